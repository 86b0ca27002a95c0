/** Reads runs, their targets, and the runs of a target. */
import { z } from 'zod';
import { isPermitted, namedPolicies, type Principal } from '../../access/principal.ts';
import { isoTime } from '../../clock.ts';
import { supervisorLease } from '../../records/lock-store.ts';
import type { Records } from '../../records/records.ts';
import { RunSummary, TargetReport, toSummary, toTargetReport } from '../../run/report.ts';
import { outcomes, type Run, type Target, triggers } from '../../run/run.ts';
import { stepNamesOf } from '../../run/steps.ts';
import { NextPage } from '../answers.ts';
import { type BaseDeps, defineCommand } from '../command.ts';
import { NotFoundError } from '../errors.ts';
import { limit, nextOf, pastTime, runId, someOf, someText } from '../fields.ts';
import { listRuns, type RunPage, type RunReader, runOf, statusFilters, subjectOfRun } from '../runs.ts';
import { openTargetIndex } from '../target-index.ts';
import { readTargetPage } from '../targets.ts';

/** Reads the runs that the principal may see. Those of a person with a few policies are found by policy. */
export function runsSeenBy(
  principal: Principal,
  { runs, targets }: Pick<Records, 'runs' | 'targets'>,
): RunReader {
  const isUnlimited = isPermitted(principal, 'viewer');
  const names = namedPolicies(principal);
  const sees = ({ policy, account }: Run) => isPermitted(principal, 'viewer', { policy, account });
  return {
    runs: ({ policy = names, ...query }) =>
      isUnlimited ? runs.list({ policy, ...query }) : runs.list({ policy, ...query, sees }),
    reasons: async (ids) => (ids.length === 0 ? new Map() : targets.reasons(ids)),
  };
}

export const listRunsCommand = defineCommand()({
  name: 'runs.list',
  summary: 'Lists runs without their targets, newest first.',
  role: 'viewer',
  reads: true,
  path: '/runs',
  input: z.strictObject({
    id: z
      .string()
      .min(1)
      .max(300)
      .optional()
      .describe('The id, or its beginning. Then all other filters are left out.'),
    policy: someText,
    status: someOf(z.enum(statusFilters)).describe('`active`: every status of a run that has not ended.'),
    account: someText,
    trigger: someOf(z.enum(triggers)),
    reason: someText.describe('A reason for which at least one target ended.'),
    since: pastTime.describe('Created at or after this time: 2026-11-01, 2026-11-01T02:00:00Z, or 7d ago.'),
    until: pastTime.describe('Created before this time, written as `since`.'),
    ...nextOf,
    limit,
  }),
  // The answer has the runs that the grants cover.
  subject: () => undefined,
  async carryOut(
    { id, limit: count, after, ...filter },
    { records, clock },
    { by: { principal } },
  ): Promise<RunPage & AsOf> {
    const now = clock.now();
    const asOf = { now, attended: await records.accounts.supervisedAt() };
    if (id !== undefined) return { runs: await runsNamed(id, records, { principal, limit: count }), ...asOf };
    const { since, until, ...rest } = filter;
    const times = { since: since?.(now), until: until?.(now) };
    const found = await listRuns(
      runsSeenBy(principal, records),
      { ...rest, ...times },
      { limit: count, after },
    );
    return { ...found, ...asOf };
  },
  answer: z.object({ runs: z.array(RunSummary), ...NextPage }),
  toAnswer: ({ runs, next, now, attended }: RunPage & AsOf): { runs: RunSummary[]; next: string | null } => ({
    runs: runs.map((run) => toSummary(run, now, attended.get(run.account))),
    next: next ?? null,
  }),
});

/** When runs were read, and when a process last worked on those of each account. */
interface AsOf {
  now: number;
  attended: ReadonlyMap<string, number>;
}

/** So many runs whose ids begin alike are looked at. */
const MAX_NAMED = 1_000;

/** The run with this id, else those whose ids begin with it, newest first. */
async function runsNamed(
  id: string,
  { runs }: Pick<Records, 'runs'>,
  { principal, limit: count }: { principal: Principal; limit: number },
): Promise<Run[]> {
  const exact = await runs.get(id);
  const found = exact ? [exact] : await runs.many(await runs.startingWith(id, MAX_NAMED));
  return found
    .filter(({ policy, account }) => isPermitted(principal, 'viewer', { policy, account }))
    .slice(0, count);
}

async function* reportsOf(run: Run, targets: AsyncIterable<Target>): AsyncGenerator<TargetReport> {
  const stepNames = stepNamesOf(run);
  for await (const target of targets) yield toTargetReport(target, stepNames);
}

/** The targets of an answer: read while they are used, or in whole where the answer was sent. */
export type Targets = AsyncIterable<TargetReport> | Iterable<TargetReport>;

export const showRun = defineCommand()({
  name: 'runs.show',
  summary: 'Shows a run with all its targets.',
  role: 'viewer',
  reads: true,
  path: '/runs/{run}',
  input: z.strictObject({
    run: runId,
    targets: z.enum(['true', 'false']).default('true').describe('Whether to show the targets.'),
  }),
  subject: subjectOfRun,
  carryOut: async ({ run }, deps) => ({
    run: await runOf(deps, run),
    targets: deps.records.targets.all(run),
    now: deps.clock.now(),
    attended: await deps.records.accounts.supervisedAt(),
  }),
  answer: RunSummary.extend({ targets: z.array(TargetReport).optional() }),
  toAnswer: ({ run, targets, now, attended }, { targets: wanted }): RunSummary & { targets?: Targets } => ({
    ...toSummary(run, now, attended.get(run.account)),
    ...(wanted === 'false' ? {} : { targets: reportsOf(run, targets) }),
  }),
});

export const listTargets = defineCommand()({
  name: 'runs.targets',
  summary: 'Lists the targets of a run in the order of its plan.',
  role: 'viewer',
  reads: true,
  path: '/runs/{run}/targets',
  input: z.strictObject({
    run: runId,
    outcome: z
      .enum([...outcomes, 'open'])
      .optional()
      .describe('`open`: has not ended.'),
    search: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('A part of the id, the label, the reason or the detail, in any case.'),
    after: z.coerce
      .number()
      .int()
      .min(0)
      .optional()
      .describe(
        'The `next` of the previous page. A page of a search may be short and still have a next one.',
      ),
    limit,
  }),
  subject: subjectOfRun,
  async carryOut({ run: id, outcome, search, after = 0, limit: count }, deps) {
    const run = await runOf(deps, id);
    const query = { from: after, limit: count, ...(outcome && { outcome }), ...(search && { search }) };
    return { run, ...(await readTargetPage(deps.records.targets, id, query)) };
  },
  answer: z.object({ targets: z.array(TargetReport), ...NextPage }),
  toAnswer: ({ run, targets, next }): { targets: TargetReport[]; next: string | null } => ({
    targets: targets.map((target) => toTargetReport(target, stepNamesOf(run))),
    next: next !== undefined && next < run.counts.planned ? String(next) : null,
  }),
});

/** The target in its last twenty runs, newest first, and in the run `also` in any case. */
export async function runsOfTarget(
  { records }: Pick<BaseDeps, 'records'>,
  { account, target, also }: { account: string; target: string; also?: string | undefined },
): Promise<{ run: Run; target: Target }[]> {
  const known = await records.targets.runsOf(account, target);
  const ids = also === undefined || known.includes(also) ? known : [also, ...known];
  const found = await Promise.all(
    ids.map(async (id) => {
      const [run, one] = await Promise.all([records.runs.get(id), records.targets.get(id, target)]);
      return run?.account === account && one ? [{ run, target: one }] : [];
    }),
  );
  return found.flat();
}

export const NO_TARGET =
  'No stored run has worked on this target, and no account is known to have such a site.';

/** Whether the service showed such a site, which no run has to have worked on. */
async function isSeenSite(
  { records, clock }: BaseDeps,
  { account, target }: { account: string; target: string },
  by: Principal,
): Promise<boolean> {
  if (!isPermitted(by, 'viewer', { account })) return false;
  const { labels } = await openTargetIndex(records, clock).all([]);
  return labels.some((one) => one.site && one.account === account && one.target === target);
}

export const TargetInRun = z.object({
  run: z.string(),
  policy: z.string(),
  status: z.string(),
  created_at: z.iso.datetime(),
  target: TargetReport,
});

export const toTargetInRun = ({ run, target }: { run: Run; target: Target }) => ({
  run: run.id,
  policy: run.policy,
  status: run.status,
  created_at: isoTime(run.createdAt),
  target: toTargetReport(target, stepNamesOf(run)),
});

export const showTarget = defineCommand()({
  name: 'targets.show',
  summary: 'Shows the results of a target in its last twenty runs.',
  role: 'viewer',
  reads: true,
  path: '/targets/{account}/{target}',
  input: z.strictObject({ account: z.string().min(1), target: z.string().min(1) }),
  // The answer has the runs that the grants cover.
  subject: () => undefined,
  async carryOut(input, deps, { by: { principal } }) {
    const found = (await runsOfTarget(deps, input)).filter(({ run: { policy, account } }) =>
      isPermitted(principal, 'viewer', { policy, account }),
    );
    if (found.length > 0 || (await isSeenSite(deps, input, principal))) return found;
    throw new NotFoundError(NO_TARGET);
  },
  answer: z.object({
    runs: z.array(TargetInRun),
  }),
  toAnswer: (found) => ({ runs: found.map(toTargetInRun) }),
});

export const findProcess = defineCommand()({
  name: 'runs.process',
  summary: 'Shows which process works on the runs of an account, by one of them.',
  role: 'viewer',
  reads: true,
  path: '/runs/{run}/process',
  input: z.strictObject({ run: runId }),
  subject: subjectOfRun,
  carryOut: async ({ run }, deps) => findActiveProcess(deps, (await runOf(deps, run)).account),
  answer: z.object({
    process: z.string().nullable().describe('In words, with its machine; null when none works on it.'),
  }),
  toAnswer: (process) => ({ process: process ?? null }),
});

/**
 * A description of the process that works on the runs of an account: `the daemon on web-1 (pid 812)`; undefined when
 * there is none.
 */
export async function findActiveProcess(
  { records, clock }: Pick<BaseDeps, 'records' | 'clock'>,
  account: string,
): Promise<string | undefined> {
  const [supervisor, running] = await Promise.all([
    records.locks.holder(supervisorLease(account)),
    records.presence.running(clock.now()),
  ]);
  // A daemon takes the lease within a second after a run starts. Until then, any worker counts.
  const daemon = running.find(({ id, roles }) =>
    supervisor === undefined ? roles.includes('worker') : id === supervisor,
  );
  if (daemon) return `the daemon on ${daemon.host} (pid ${daemon.pid})`;
  const [, host, pid] = /^(.+)\.(\d+)\.[^.]+$/.exec(supervisor ?? '') ?? [];
  return host === undefined ? supervisor : `a command on ${host} (pid ${pid})`;
}
