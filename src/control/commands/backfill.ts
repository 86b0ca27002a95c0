import { z } from 'zod';
import { isoTime } from '../../clock.ts';
import { PartlyDoneError } from '../../engine/errors.ts';
import { RunSummary, toSummary } from '../../run/report.ts';
import type { Run } from '../../run/run.ts';
import {
  type BackfillTime,
  planBackfill,
  queued,
  reprocessings,
  toBackfillReport,
} from '../../schedule/backfill.ts';
import type { Span } from '../../schedule/wall-time.ts';
import { countOf } from '../../text.ts';
import { defineCommand } from '../command.ts';
import { InvalidRequestError } from '../errors.ts';
import { detach, ignoreFreeze, policyName, reason } from '../fields.ts';
import { needPolicy, needWorker, type PolicyDeps, startedBy } from '../policies.ts';
import type { FireDeps } from './run-policy.ts';

const time = z.iso.datetime({ offset: true });
export type Backfilled = BackfillTime & { run?: Run };

const range = {
  policy: policyName,
  from: time.describe('Start of the range.'),
  to: time.optional().describe('End of the range, inclusive. Default: now.'),
  reprocess: z
    .enum(reprocessings)
    .default('none')
    .describe('Which scheduled times that already have a run to run again.'),
};

/** @throws {InvalidRequestError} */
function spanIn({ from, to }: { from: string; to?: string | undefined }, now: number): Span {
  const span = { from: Date.parse(from), to: to === undefined ? now : Date.parse(to) };
  if (span.from > span.to) throw new InvalidRequestError('The start of the range is later than its end.');
  return span;
}

export const previewBackfill = defineCommand<PolicyDeps>()({
  name: 'policies.preview-backfill',
  summary: 'Shows which past scheduled times a backfill would run, and why not the others.',
  role: 'viewer',
  reads: true,
  path: '/policies/{policy}/backfill',
  input: z.strictObject(range),
  subject: ({ policy }, deps) => ({ policy, account: needPolicy(deps, policy).account }),
  async carryOut({ policy: name, reprocess, ...given }, deps) {
    const policy = needPolicy(deps, name);
    const now = deps.clock.now();
    const times = await planBackfill(deps.records, policy, spanIn(given, now), reprocess, now);
    return toBackfillReport(policy, times);
  },
  answer: z.object({
    policy: z.string(),
    timezone: z.string(),
    overlap: z.boolean().describe('Whether its runs work at the same time.'),
    scheduled_times: z.array(
      z.looseObject({
        scheduled_for: z.iso.datetime(),
        wall_time: z.string(),
        fires: z.boolean(),
        because: z.string(),
      }),
    ),
  }),
  toAnswer: (report) => report,
});

export const backfillPolicy = defineCommand<FireDeps>()({
  name: 'policies.backfill',
  summary: 'Starts runs of a policy for past scheduled times that were missed or skipped, oldest first.',
  role: 'operator',
  path: '/policies/{policy}/backfill',
  input: z.strictObject({
    ...range,
    ignore_freeze: ignoreFreeze,
    detach,
    reason,
  }),
  subject: ({ policy }, deps) => ({ policy, account: needPolicy(deps, policy).account }),
  async carryOut(
    { policy: name, reprocess, ignore_freeze, detach, ...given },
    deps,
    act,
  ): Promise<Backfilled[]> {
    const policy = needPolicy(deps, name);
    deps.needAccount(policy.account);
    if (detach) await needWorker(deps);
    const { records, engine } = deps;
    const span = spanIn(given, act.at);
    const times = await act.decide('times', () => planBackfill(records, policy, span, reprocess, act.at));
    const made: Backfilled[] = [];
    let started = 0;
    // The oldest time first: queued runs start in the order of their creation.
    for (const one of times) {
      const { scheduledFor, attempt, afterRun } = one;
      if (!one.fires) made.push(one);
      else {
        const firing = {
          trigger: 'backfill' as const,
          scheduledFor,
          attempt,
          startedBy: startedBy(act.by),
          ...(afterRun === undefined ? {} : { afterRun }),
          ...(ignore_freeze ? { ignoreFreeze: true as const } : {}),
        };
        const run = await engine.fire(queued(policy), firing).catch((error: unknown) => {
          throw started === 0 ? error : new PartlyDoneError(`${countOf(started, 'run')} started`, error);
        });
        made.push({ ...one, run });
        started += 1;
      }
    }
    return made;
  },
  outcome: (made) => ({
    detail: `${made.filter(({ run }) => run).length} of ${made.length} scheduled times`,
  }),
  answer: z.object({
    scheduled_times: z.array(
      z.object({
        scheduled_for: z.iso.datetime(),
        fires: z.boolean(),
        because: z.string(),
        run: RunSummary.nullable(),
      }),
    ),
  }),
  toAnswer: (made) => ({
    scheduled_times: made.map(({ scheduledFor, fires, because, run }) => ({
      scheduled_for: isoTime(scheduledFor),
      fires,
      because,
      run: run ? toSummary(run) : null,
    })),
  }),
});
