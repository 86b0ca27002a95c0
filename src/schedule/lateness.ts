import type { Policy } from '../policy/policy.ts';
import { chainedDueAt } from './chain.ts';
import { dueAt } from './cron-times.ts';
import type { ScheduledFiring } from './scheduler.ts';

/** When the run of a firing was due, with jitter. */
export function dueAtOf({ name, schedule }: Policy, { trigger, scheduledFor }: ScheduledFiring): number {
  if (schedule === undefined) return scheduledFor;
  return trigger === 'after'
    ? chainedDueAt(name, schedule, scheduledFor)
    : dueAt(name, schedule, scheduledFor);
}
