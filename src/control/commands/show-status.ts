import { z } from 'zod';
import { isPermitted } from '../../access/principal.ts';
import { isoTime } from '../../clock.ts';
import { DAY_MS } from '../../dates.ts';
import { formatBlocked } from '../../records/account-store.ts';
import { formatFreeze, formatFrozen } from '../../records/freeze-store.ts';
import { pauseAt } from '../../records/policy-store.ts';
import type { Records } from '../../records/records.ts';
import { isFinal, type ShownStatus, shownStatus } from '../../run/moves.ts';
import { RunSummary, toSummary } from '../../run/report.ts';
import type { Run } from '../../run/run.ts';
import { upcomingRuns } from '../../schedule/upcoming-runs.ts';
import { defineCommand } from '../command.ts';
import { findingGroups, unacknowledged } from '../findings.ts';
import { type AllPolicies, seenPolicies } from '../policies.ts';

const count = z.int().min(0);
const time = z.iso.datetime();

const StatusAnswer = z.object({
  active: z.array(RunSummary).describe('The runs that have not ended, oldest first.'),
  failed: z
    .array(RunSummary)
    .describe('Of each policy whose last run did not succeed and ended in the last 24 hours: that run.'),
  findings: z
    .object({ error: count, warning: count, info: count })
    .describe('Open findings that are not acknowledged.'),
  next: z.array(z.object({ policy: z.string(), fires_at: time })).describe('The next scheduled runs.'),
  daemons: z.array(
    z.object({ host: z.string(), pid: z.int(), roles: z.array(z.string()), started_at: time }),
  ),
  problems: z.array(z.string()).describe('What keeps policies from running, in sentences.'),
});
type Answer = z.output<typeof StatusAnswer>;

/** The same, with all fields of a run. */
export type StatusReport = Omit<Answer, 'active' | 'failed'> & Record<'active' | 'failed', RunSummary[]>;

const MAX_NEXT = 3;
/** Of this many policies the last runs are read. */
const MAX_POLICIES = 50;
/**
 * A run that was skipped or cancelled, has not ended or skipped all targets says nothing of how the policy does: so
 * many are looked at.
 */
const MAX_LOOKED = 5;
/** What a check found did not fail: it is among the findings. */
const notAllWell: readonly ShownStatus[] = ['failed', 'partial', 'stopped'];
const neededRoles = ['scheduler', 'worker'];

/** Of each of these policies the last run that shows how it does, if it did not succeed. */
async function failedOf({ runs }: Pick<Records, 'runs'>, policies: readonly string[]): Promise<Run[]> {
  const lists = await Promise.all(policies.map((policy) => runs.list({ policy, limit: MAX_LOOKED })));
  const last = await Promise.all(
    lists.map(async (list) => {
      for (const run of list) {
        if (notAllWell.includes(shownStatus(run))) return run;
        if (shownStatus(run) === 'found' || (await runs.showsRecovery(run))) return undefined;
      }
      return undefined;
    }),
  );
  return last.filter((one) => one !== undefined);
}

export const showStatus = defineCommand<AllPolicies>()({
  name: 'status.show',
  summary:
    'Shows what runs and until when, what waits for a person, what failed, what runs next, and whether anything keeps policies from running.',
  role: 'viewer',
  reads: true,
  path: '/status',
  input: z.strictObject({}),
  subject: () => undefined,
  async carryOut(_input, { policies, records, clock }, { by: { principal } }): Promise<StatusReport> {
    const now = clock.now();
    const seen = seenPolicies({ policies }, principal);
    const sees = (of: { policy: string; account: string }) => isPermitted(principal, 'viewer', of);
    const accounts = [...new Set(seen.map(({ account }) => account))];
    const [totals, processes, freezes, states, groups, attended, blocked, queues] = await Promise.all([
      records.totals.between(now - DAY_MS, now),
      records.presence.running(now),
      records.freeze.active(now),
      records.policies.many(seen),
      findingGroups(records, {}, now, sees),
      records.accounts.supervisedAt(),
      records.accounts.blockedOf(accounts),
      records.alerts.names('queue '),
    ]);
    const ended = totals.runs.filter(({ status }) => notAllWell.includes(status));
    const names = [...new Set(ended.map(({ policy }) => policy))].slice(0, MAX_POLICIES);
    const [active, failed] = await Promise.all([records.runs.many(totals.active), failedOf(records, names)]);
    const next = upcomingRuns(policies(), await records.policies.many(policies()), {
      now,
      until: now + 7 * DAY_MS,
      limit: MAX_NEXT,
      isWanted: (one) => seen.includes(one),
    });
    const openOf = (severity: string) =>
      groups.filter((one) => one.severity === severity).reduce((sum, one) => sum + unacknowledged(one), 0);
    const activeOf = (account: string) =>
      active.filter((run) => run.account === account && !isFinal(run.status)).length;
    const paused = seen.filter(({ name }) => pauseAt(states.get(name), now)).map(({ name }) => name);
    const missing = neededRoles.filter((role) => !processes.some(({ roles }) => roles.includes(role)));
    return {
      active: active
        .filter((run) => sees(run) && !isFinal(run.status))
        .sort((a, b) => a.createdAt - b.createdAt)
        .map((run) => toSummary(run, now, attended.get(run.account))),
      failed: failed
        .filter((run) => sees(run) && (run.finishedAt ?? now) > now - DAY_MS)
        .sort((a, b) => b.counts.failed - a.counts.failed)
        .map((run) => toSummary(run)),
      findings: { error: openOf('error'), warning: openOf('warning'), info: openOf('info') },
      next: next.runs
        .flatMap(({ policy, fires_at, skipped }) =>
          fires_at === null || skipped ? [] : { policy, fires_at },
        )
        .slice(0, MAX_NEXT),
      daemons: processes.map(({ host, pid, roles, startedAt }) => ({
        ...{ host, pid, roles },
        started_at: isoTime(startedAt),
      })),
      problems: [
        ...missing.map((role) => `No daemon with the role ${role} is running.`),
        ...queues.map((alert) => `The ${alert} is paused, so its work waits.`),
        ...accounts.flatMap((account, at) =>
          blocked[at] ? formatBlocked(account, blocked[at], activeOf(account)) : [],
        ),
        ...freezes.map((freeze) => `Frozen: ${formatFrozen(freeze)}, ${formatFreeze(freeze)}.`),
        ...(paused.length === 0 ? [] : [`Paused: ${paused.join(', ')}.`]),
        ...processes
          .flatMap(({ keeps = [] }) => keeps)
          .filter((kept, at, all) => all.findIndex(({ name }) => name === kept.name) === at)
          .map(
            ({ name, file, error }) =>
              `${file} has errors (${error.replace(/\.$/, '')}); ${name} runs as it was before.`,
          ),
      ],
    };
  },
  answer: StatusAnswer,
  toAnswer: (report) => report,
});
