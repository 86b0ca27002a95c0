/**
 * Compares the findings of a run with those of its policy's earlier runs, before the run ends: what is new, still
 * there and resolved. May be done again at any time before the run has ended; nothing is counted twice.
 *
 * Resolved is only what the run looked at: a target of its own that ended without the finding, or one that is no
 * longer among what a whole run selects. An event does not end by not being seen: a later event has to settle it. What
 * a list that could not be read would show is not resolved. A run that was cancelled or stopped resolves nothing.
 */
import { defined } from '../defined.ts';
import { parentIdIn } from '../job/candidates.ts';
import type { AnyJob } from '../job/job.ts';
import type { Checked, FindingsOf } from '../job/look.ts';
import { jobOf } from '../policy/policy-job.ts';
import type { KnownFinding } from '../records/finding-indexes.ts';
import type { ComparedRun, SeenFinding } from '../records/findings-store.ts';
import { coreReasonText } from '../run/reasons.ts';
import { isIncomplete, targetOfPolicy } from '../run/remarks.ts';
import type { Run, Target } from '../run/run.ts';
import { type EngineDeps, type PlanRecords, policyOf } from './deps.ts';
import { wholeRuns } from './job-api.ts';

const PAGE = 500;

/** Costs one read per 500 targets and per 500 known findings, and no request. */
export async function compareFindings(
  { records, registry }: Pick<EngineDeps, 'records' | 'registry'>,
  run: Run,
): Promise<void> {
  const job = jobOf(registry, policyOf(run));
  if (!run.planComplete || !job) return;
  const { forEach } = policyOf(run).select;
  const only = await records.runs.only(run.id);
  const compared: ComparedRun = {
    id: run.id,
    account: run.account,
    policy: run.policy,
    startedAt: run.startedAt ?? run.createdAt,
    isWhole: only.length === 0 && isWhole(run),
  };
  for (let page = 0; page * PAGE < run.counts.planned; page += 1) {
    const targets = await records.targets.slice(run.id, page * PAGE, PAGE);
    const seen = targets.flatMap((target) => comparable(job, target, siteOf(run, target)));
    if (seen.length > 0) await records.findings.note(compared, page + 1, seen);
  }
  const ofPolicy = targetOfPolicy(run.policy);
  const remarks = (run.remarks ?? []).map(({ severity, about, message }) => ({
    ...{ target: ofPolicy, label: ofPolicy, severity, about, message },
  }));
  const pages = Math.ceil(run.counts.planned / PAGE);
  // A run without findings, too, makes what an earlier one found outdated.
  if (remarks.length > 0 || compared.isWhole) await records.findings.note(compared, pages + 1, remarks);
  if (run.ending) return;
  // A run for some targets, and a retry, do not look at the whole policy.
  const sawPolicy = only.length === 0 && run.retryOf === undefined;
  for await (const known of records.findings.pages(run.account, run.policy)) {
    const unseen = known.filter(({ last }) => last !== run.id);
    // A target of a list that each site has is covered by the site's own, if its list was not read.
    const parentOf = ({ target }: { target: string }) => (forEach ? parentIdIn(target) : undefined) ?? target;
    const ids = new Set(unseen.flatMap((one) => [one.target, parentOf(one)]));
    const targets = await records.targets.many(run.id, [...ids]);
    const byId = new Map(targets.map((target) => [target.id, target]));
    await records.findings.resolve(
      compared,
      unseen.filter((one) =>
        one.target === ofPolicy
          ? sawPolicy
          : isResolved(one, byId.get(one.target) ?? byId.get(parentOf(one)), compared),
      ),
    );
  }
}

/** What policies of an account found, and what their last whole runs looked at; read from the records alone. */
export const findingsIn =
  (records: PlanRecords, account: string): FindingsOf =>
  async (policy) => {
    const checked: Checked & { unknown: Set<string>; open: KnownFinding[] } = {
      unknown: new Set(),
      open: [],
    };
    for await (const run of wholeRuns({ records }, policy, undefined)) {
      if (run.account !== account || !isWhole(run) || isIncomplete(run)) continue;
      checked.at = run.startedAt ?? run.createdAt;
      for await (const target of records.targets.all(run.id))
        if (!wasLookedAt(target)) checked.unknown.add(siteOf(run, target));
      break;
    }
    for await (const page of records.findings.pages(account, policy)) checked.open.push(...page);
    return checked;
  };

/** The site that a target of a run is, or is on. */
const siteOf = (run: Run, { id, site }: Pick<Target, 'id' | 'site'>): string =>
  site ?? (policyOf(run).select.forEach ? parentIdIn(id) : undefined) ?? id;

/** Whether the run is over all that the policy selects: nothing cut it off, and `select.limit` did not either. */
function isWhole(run: Run): boolean {
  const { limit } = policyOf(run).select;
  const isCut = limit !== undefined && (run.plan?.targets ?? limit) >= limit;
  return run.retryOf === undefined && run.ending === undefined && !isCut;
}

const comparable = (
  { comparesInfo }: AnyJob,
  { id, label, told, findings = [] }: Target,
  site: string,
): SeenFinding[] =>
  findings
    .filter(({ severity }) => severity !== 'info' || comparesInfo)
    .map(({ severity, about, message, event }) => ({
      ...{ target: id, label, site, severity, about, message },
      ...defined({ event, told }),
    }));

/** Whether a finding on this target, which the run did not see, is resolved. */
function isResolved(
  { event }: Pick<SeenFinding, 'event'>,
  target: Target | undefined,
  { isWhole }: ComparedRun,
): boolean {
  if (!target) return isWhole;
  if (event === undefined) return wasLookedAt(target);
  return target.findings?.some(({ settles }) => settles?.includes(event)) ?? false;
}

/**
 * Whether the job came to a conclusion about a target. It did not when the engine ended it (a time limit, an
 * outage), and when something that decides was not shown.
 */
const wasLookedAt = ({ outcome, reason = '' }: Target): boolean =>
  outcome === 'succeeded' || reason === 'gone' || (outcome !== 'cancelled' && isOwnReason(reason));

const isOwnReason = (reason: string): boolean => coreReasonText(reason) === undefined;
