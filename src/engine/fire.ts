/** Firing a policy: one firing makes one run, however many processes fire it. */
import { randomBytes } from 'node:crypto';
import type { Policy } from '../policy/policy.ts';
import type { Run, Trigger } from '../run/run.ts';
import type { Parts } from './parts.ts';

export interface Firing {
  trigger: Trigger;
  /** The moment the firing is for, in milliseconds since 1970: the nominal one for schedules, now for people. */
  scheduledFor: number;
  /** Only these targets. */
  only?: string[];
  retryOf?: string;
}

/**
 * Makes the run of a firing and puts it on its way. A scheduled firing that has its run already gives that one.
 *
 * While another run of the policy is under way, `schedule.overlap` decides: the new run is recorded as `skipped`, waits
 * `queued`, has the other one cancelled, or goes ahead.
 */
export async function fire(
  parts: Parts,
  policy: Policy,
  firing: Firing,
  cancel: (run: Run) => Promise<void>,
): Promise<Run> {
  const { records, clock, log } = parts;
  const overlap = policy.schedule?.overlap ?? 'skip';
  const others = (await records.runs.active(policy.account)).filter((run) => run.policy === policy.name);
  const [other] = others;
  const skipped = overlap === 'skip' && other !== undefined;
  const now = clock.now();
  const run: Run = {
    id: idOf(policy, firing),
    policy: policy.name,
    job: policy.job,
    account: policy.account,
    status: skipped ? 'skipped' : 'queued',
    trigger: firing.trigger,
    scheduledFor: firing.scheduledFor,
    createdAt: now,
    requests: 0,
    counts: { planned: 0, succeeded: 0, failed: 0, skipped: 0, cancelled: 0 },
    policyJson: JSON.stringify(policy),
    policyHash: policy.hash,
    ...(skipped
      ? { finishedAt: now, detail: `The run ${other.id} was still under way (schedule.overlap: skip).` }
      : {}),
    ...(firing.retryOf ? { retryOf: firing.retryOf } : {}),
  };
  const { concurrency } = policy.limits;
  if (!(await records.runs.create(run, { concurrency, targetMs: policy.timeout.targetMs }, firing.only))) {
    const made = (await records.runs.get(run.id)) ?? run;
    // Whoever made it may have died before it was on its way.
    if (made.status !== 'queued') return made;
  }
  log.info({ run: run.id, trigger: run.trigger, status: run.status }, 'a policy fired');
  if (skipped) return run;
  if (overlap === 'cancel-running')
    for (const running of others) if (running.id !== run.id) await cancel(running);
  if (turnOf(run, others, policy) !== 'wait') await parts.queues.put([{ kind: 'plan', run: run.id }]);
  return run;
}

/** What a queued run is to do now. */
export type Turn = 'start' | 'wait' | 'skip';

/**
 * Whose turn it is, given the account's active runs: unless runs may overlap, one at a time. Those that wait go by age; one
 * that has begun is ahead of them all, even of an older one whose maker was held up.
 */
export function turnOf(run: Run, active: readonly Run[], policy: Policy): Turn {
  const overlap = policy.schedule?.overlap ?? 'skip';
  if (overlap === 'allow') return 'start';
  const others = active.filter((other) => other.policy === run.policy && other.id !== run.id);
  if (!others.some((other) => other.status !== 'queued' || isOlder(other, run))) return 'start';
  return overlap === 'skip' ? 'skip' : 'wait';
}

const isOlder = (a: Run, b: Run): boolean =>
  a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.id < b.id);

/** Policy and moment; what people fire by hand may be several in a minute and gets a few letters more. */
function idOf(policy: Policy, { trigger, scheduledFor }: Firing): string {
  const moment = `${new Date(scheduledFor).toISOString().replace(/[-:]|\.\d+/g, '')}`;
  const own = trigger === 'schedule' || trigger === 'catch-up' ? '' : `-${randomBytes(2).toString('hex')}`;
  return `${policy.name}.${moment}${own}`;
}
