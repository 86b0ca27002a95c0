/**
 * `notify.route`: a run as each of its receivers sees it. A receiver of a route is notified of its own targets, as if
 * the run had no others. Which receiver a target belongs to was decided when it was planned, by the client and tags that
 * it had then (`engine/plan/owners.ts`).
 */
import type { Policy } from '../policy/policy.ts';
import type { KnownFinding } from '../records/finding-indexes.ts';
import type { RunNotice } from '../records/notice-store.ts';
import type { ReasonCount } from '../records/target-types.ts';
import { finalStatus } from '../run/moves.ts';
import type { Counts, FindingChanges, Run, Target } from '../run/run.ts';
import type { FollowingDeps } from './wanted.ts';

type Notify = Policy['notify'];

/** What some receivers are notified of. */
export interface View {
  run: Run;
  notify: Notify;
  deps: FollowingDeps;
  /** Whether what this receiver knows of the policy changes by it. */
  owns(to: string): boolean;
  /** A line for the message: which part of the run it is about. */
  note?: string;
}

/** How many new and resolved findings a message names. */
const MAX_NAMED = 10;

/**
 * One view for all who are notified of the whole run, and one for each receiver of a route that has a target of it. What
 * is not about single targets goes to the receivers of the whole and to the defaults of the routes. Whoever has no
 * target left in a run over all of them is only told what has recovered. Only a policy with routes costs more than
 * nothing: a read for each 500 targets and findings.
 */
export async function viewsOf(
  deps: FollowingDeps,
  notice: RunNotice,
  run: Run,
  { notify, select }: Pick<Policy, 'notify' | 'select'>,
): Promise<View[]> {
  const isOfTargets = notice.type === 'run' && notice.status !== 'blocked' && run.planComplete;
  if (!isOfTargets || notify.every(({ route }) => !route)) return [{ run, notify, deps, owns: () => true }];
  const whole = notify.filter(({ route }) => !route);
  const routed = notify.filter(({ route }) => route);
  const namedIn = ({ to, route = [] }: Notify[number]) => [to, ...route.map((rule) => rule.to)];
  // Whoever sees the whole run sees it in all of its messages.
  const seesAll = new Set(whole.map(({ to }) => to));
  const shares = new Map(routed.flatMap(namedIn).map((to) => [to, new Share(to)]));
  // A receiver that the policy no longer names has what it had go to the default.
  const receiversOf = (told: Target['told'] = []) =>
    routed.map((one, at) => namedIn(one).find((to) => to === told[at]) ?? one.to);
  for await (const target of deps.records.targets.all(run.id)) {
    receiversOf(target.told).forEach((to, at) => {
      shares.get(to)?.add(target, at);
    });
  }
  routed.forEach(({ to }, at) => {
    if (run.counts.planned === 0) shares.get(to)?.at.add(at);
  });
  const findings = await findingsBy(deps, run, receiversOf);
  const isOfAll =
    run.retryOf === undefined &&
    select.limit === undefined &&
    (await deps.records.runs.only(run.id)).length === 0;
  const isMine = (to: string) =>
    routed.flatMap((one, at) => {
      if (shares.get(to)?.at.has(at)) return [{ ...one, to }];
      return isOfAll && namedIn(one).includes(to)
        ? [{ ...one, to, on: one.on.filter((word) => word === 'recovered') }]
        : [];
    });
  const all = [...whole, ...[...seesAll].flatMap(isMine)];
  return [
    ...(all.length > 0
      ? [{ run, notify: all, deps, owns: (to: string) => seesAll.has(to) || !shares.has(to) }]
      : []),
    ...[...shares.values()]
      .filter(({ to }) => !seesAll.has(to))
      .map((share) => ({ ...share.of(run, deps, findings(share.to)), notify: isMine(share.to) }))
      .filter(({ notify: own }) => own.length > 0),
  ];
}

/** The targets of one receiver. */
class Share {
  /** The positions of the routes by which it has any. */
  readonly at = new Set<number>();
  private readonly ids = new Set<string>();
  private readonly counts: Counts = { planned: 0, succeeded: 0, failed: 0, skipped: 0, cancelled: 0 };
  private found = 0;
  private readonly reasons = new Map<string, ReasonCount>();

  constructor(readonly to: string) {}

  add({ id, outcome, reason, findings = [] }: Target, at: number): void {
    this.at.add(at);
    if (this.ids.has(id)) return;
    this.ids.add(id);
    this.counts.planned += 1;
    if (outcome === undefined || reason === undefined) return;
    this.counts[outcome] += 1;
    if (outcome === 'failed' && findings.length > 0) this.found += 1;
    const key = `${outcome} ${reason}`;
    this.reasons.set(key, { outcome, reason, count: (this.reasons.get(key)?.count ?? 0) + 1 });
  }

  of(run: Run, deps: FollowingDeps, findings: FindingChanges | undefined): Omit<View, 'notify'> {
    const { ids, reasons, to } = this;
    // What a check found is no failure; a run counts it when there is any.
    const counts = { ...this.counts, ...(run.counts.found === undefined ? {} : { found: this.found }) };
    const own = { ...run, counts, ...(findings ? { findings } : {}) };
    const { targets } = deps.records;
    return {
      run: { ...own, status: counts.planned === run.counts.planned ? run.status : finalStatus(own) },
      owns: (one) => one === to,
      deps: {
        ...deps,
        records: {
          ...deps.records,
          targets: {
            async *all(id) {
              for await (const target of targets.all(id)) if (ids.has(target.id)) yield target;
            },
            reasons: async ([id = run.id]) => new Map([[id, [...reasons.values()]]]),
          },
        },
      },
      ...(counts.planned > 0 && counts.planned < run.counts.planned
        ? {
            note: `Of ${run.counts.planned} targets of the run, these are about the ${counts.planned} of ${to}.`,
          }
        : {}),
    };
  }
}

/** The findings of a run for each receiver: whose a finding is, was decided when it was last seen. */
async function findingsBy(
  { records }: FollowingDeps,
  { id, account, policy, startedAt, createdAt, findings }: Run,
  receiversOf: (told: Target['told']) => readonly string[],
): Promise<(to: string) => FindingChanges | undefined> {
  if (!findings || findings.new + findings.resolved === 0) return () => findings;
  const known: KnownFinding[] = [];
  for await (const page of records.findings.pages(account, policy)) known.push(...page);
  const at = startedAt ?? createdAt;
  const resolved = (await records.openFindings.resolved({ account, policy }, at - 1)).filter(
    ({ resolvedAt }) => resolvedAt === at,
  );
  const counts = Object.entries(findings.resolvedOf ?? {}).map(([told, count]) => ({
    to: receiversOf(JSON.parse(told) as string[]),
    count,
  }));
  const others = {
    to: receiversOf([]),
    count: counts.reduce((left, { count }) => left - count, findings.resolved),
  };
  return (to) => {
    const own = (all: readonly KnownFinding[]) => all.filter(({ told }) => receiversOf(told).includes(to));
    const [open, ownResolved] = [own(known), own(resolved)];
    const added = open.filter(({ first }) => first === id);
    return {
      open: open.length,
      new: added.length,
      resolved: [others, ...counts].reduce((sum, one) => sum + (one.to.includes(to) ? one.count : 0), 0),
      firstNew: added.slice(0, MAX_NAMED),
      firstResolved: ownResolved.slice(0, MAX_NAMED),
    };
  };
}
