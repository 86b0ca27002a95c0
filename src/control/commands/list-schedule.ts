import { z } from 'zod';
import { upcomingRuns } from '../../schedule/upcoming-runs.ts';
import { defineCommand } from '../command.ts';
import { NotFoundError } from '../errors.ts';
import { endOf, until } from '../fields.ts';
import { type AllPolicies, Schedulers, schedulersIn, seenPolicies } from '../policies.ts';

const time = z.iso.datetime();
const name = z.string().min(1);

export const listSchedule = defineCommand<AllPolicies>()({
  name: 'schedule.list',
  summary: 'Lists the upcoming runs of policies in the order of time, and the runs that follow them.',
  role: 'viewer',
  reads: true,
  path: '/schedule',
  input: z.strictObject({
    policy: z
      .union([name, z.array(name).max(1000)])
      .optional()
      .describe('Only these policies; repeatable.'),
    until: until.default('7d').describe('How far to look ahead: a time, or a duration from now such as 3d.'),
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(1_000)
      .default(10)
      .describe('The maximum number for each policy.'),
  }),
  subject: () => undefined,
  async carryOut({ policy, until: end, limit }, { policies, records, clock }, { by: { principal } }) {
    const all = policies();
    const seen = seenPolicies({ policies }, principal);
    const names = policy === undefined ? undefined : [policy].flat();
    const unknown = names?.find((one) => !seen.some((known) => known.name === one));
    if (unknown !== undefined) throw new NotFoundError(`No active policy has the name "${unknown}".`);
    const states = await records.policies.many(all);
    const isWanted = (one: (typeof all)[number]) => seen.includes(one) && (names?.includes(one.name) ?? true);
    const now = clock.now();
    const upcoming = upcomingRuns(all, states, { now, until: endOf(end, now), limit, isWanted });
    return { ...upcoming, schedulers: schedulersIn(await records.presence.running(now)) };
  },
  answer: z.object({
    runs: z.array(
      z.looseObject({
        policy: z.string(),
        job: z.string(),
        after: z.string().optional().describe('The policy that it follows.'),
        not_before: time.optional(),
        scheduled_for: time.nullable(),
        fires_at: time.nullable(),
        timezone: z.string(),
        skipped: z.object({ why: z.string(), note: z.string().nullable() }).nullable(),
      }),
    ),
    more: z.array(z.string()).describe('The policies that have more runs than the limit.'),
    schedulers: Schedulers,
  }),
  toAnswer: (found) => found,
});
