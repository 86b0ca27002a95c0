/** The messages about the end of a run: a failure is reported once and after `repeat_interval`, and so is its recovery. */
import type { Policy } from '../policy/policy.ts';
import type { ProblemChange, ProblemKind } from '../records/problem-store.ts';
import { endedCount } from '../run/moves.ts';
import { toSummary } from '../run/report.ts';
import { lastApproval, type Seen } from '../run/rollout.ts';
import { formatStanding } from '../run/rollout-report.ts';
import type { Run, RunStatus } from '../run/run.ts';
import { redact } from '../secrets.ts';
import { countOf, linesOf } from '../text.ts';
import { failedTargetsOf, type Message, messageAbout, messageAboutRecovery } from './message.ts';
import { afterOccurrence, newTo } from './system-messages.ts';
import { type FollowingDeps, repeatMsOf, type Wanted } from './wanted.ts';

const failures: readonly RunStatus[] = ['failed', 'partial', 'stopped'];

interface End {
  at: number;
  notify: Policy['notify'];
  /** Whether what this receiver was notified of is decided by this run. */
  owns(to: string): boolean;
}

interface About {
  wanted: Wanted[];
  changes: readonly ProblemChange[];
}

/** The messages about the end of a run, or about its refusal by the account; and what the receivers then know. */
export async function aboutEnd(deps: FollowingDeps, run: Run, end: End): Promise<About> {
  const { status } = run;
  if (failures.includes(status)) return aboutFailure(deps, run, end);
  if (status === 'succeeded') return aboutSuccess(deps, run, end);
  if (status === 'skipped') {
    const { wanted, changes } = await oncePerInterval(deps, 'skipped', run, end);
    const message = messageAbout(run);
    return {
      wanted: wanted.map((to) => ({ ...theEnd(run, message), about: `skipped ${run.policy}`, to })),
      changes,
    };
  }
  if (status === 'blocked') return aboutBlocked(deps, run, end);
  const failed = await failedTargetsOf(deps.records, run);
  return { wanted: [theEnd(run, messageAbout(run, failed))], changes: [] };
}

const theEnd = ({ status }: Run, message: Wanted['message']): Wanted => ({
  on: status,
  event: `run.${status}`,
  message,
});

async function aboutFailure(deps: FollowingDeps, run: Run, { at, notify }: End): Promise<About> {
  const { records, receivers } = deps;
  const [known, facts, failed] = await Promise.all([
    records.problems.ofPolicy(run.policy),
    factsOf(records, run),
    failedTargetsOf(records, run),
  ]);
  const each = receiversOf(notify, failures).map((to) => {
    const before = known.of('runs', to);
    const streak = (before?.count ?? 0) + 1;
    const isWanted = notify.some(
      (entry) => entry.to === to && entry.on.includes(run.status) && streak >= (entry.streak ?? 1),
    );
    const repeatMs = repeatMsOf(receivers[to]);
    const { problem, notifies } = afterOccurrence(before, { at, facts, isWanted, repeatMs });
    const wanted = { ...theEnd(run, messageAbout(run, failed, problem)), about: `runs ${run.policy}`, to };
    return { wanted: notifies ? [wanted] : [], change: known.change('runs', to, problem) };
  });
  return { wanted: each.flatMap(({ wanted }) => wanted), changes: each.map(({ change }) => change) };
}

/** Its status, and why its targets failed. */
async function factsOf({ targets }: FollowingDeps['records'], { id, status }: Run): Promise<string[]> {
  const reasons = (await targets.reasons([id])).get(id) ?? [];
  return [status, ...reasons.filter(({ outcome }) => outcome === 'failed').map(({ reason }) => reason)];
}

/** Receivers that were notified of the failures before it get the message about the recovery. */
async function aboutSuccess(deps: FollowingDeps, run: Run, { owns }: End): Promise<About> {
  const known = await deps.records.problems.ofPolicy(run.policy);
  const open = [...known.all('runs')].filter(([to]) => owns(to));
  const success = theEnd(run, messageAbout(run));
  if (open.length === 0 || !(await deps.records.runs.showsRecovery(run)))
    return { wanted: [success], changes: [] };
  const recovered = open.flatMap(([to, problem]): Wanted[] => {
    if (problem.toldAt === undefined) return [];
    const message = messageAboutRecovery(run, problem);
    return [{ on: 'recovered', event: 'run.recovered', message, about: `runs ${run.policy}`, to }];
  });
  // A receiver that is no longer in the policy is forgotten, too.
  const changes = open.map(([to]) => known.change('runs', to, undefined));
  return { wanted: [...recovered, success], changes };
}

/** Those who asked for one of these words. */
const receiversOf = (notify: Policy['notify'], words: readonly string[]): string[] => [
  ...new Set(notify.flatMap(({ on, to }) => (on.some((word) => words.includes(word)) ? [to] : []))),
];

/** Who is notified of something that has no end: once, and again when `repeat_interval` has passed. */
export async function oncePerInterval(
  deps: FollowingDeps,
  kind: Extract<ProblemKind, 'skipped' | 'deadline'>,
  { policy }: Run,
  { at, notify }: Pick<End, 'at' | 'notify'>,
): Promise<{ wanted: string[]; changes: readonly ProblemChange[] }> {
  const known = await deps.records.problems.ofPolicy(policy);
  const { to, changes } = newTo(known, kind, receiversOf(notify, [kind]), deps, at);
  return { wanted: to, changes };
}

/** The first run that waits for an account reports that it refuses access; the others of the account are not news. */
async function aboutBlocked(deps: FollowingDeps, run: Run, { at, notify }: End): Promise<About> {
  const known = await deps.records.problems.ofAccount(run.account);
  const { to, changes } = newTo(known, 'blocked', receiversOf(notify, ['blocked']), deps, at);
  const end = { ...theEnd(run, messageAbout(run)), about: `account ${run.account}` };
  return { wanted: to.map((name) => ({ ...end, to: name })), changes };
}

// The messages about runs that wait for a person.

/** How many targets a message names. */
const MAX_NAMED = 10;

/** The message that a run waits for an approval, or that it was not approved in time, without secrets. */
export function messageAboutApproval(run: Run, is: 'wanted' | 'expired'): Message {
  const text =
    is === 'wanted'
      ? `${run.policy} waits for an approval (${waitingPart(run)}). ${formatStanding(run) ?? ''} caretaker approvals approve ${run.id}`
      : `${run.policy} was cancelled: ${run.detail ?? 'it was not approved in time.'}`;
  return redact({ text: linesOf([text]), ...toSummary(run) }) as Message;
}

/** How many targets wait: those of the batches of the approval that have no outcome yet. */
function waitingPart(run: Run): string {
  const { from = 1, to = 1 } = lastApproval(run) ?? {};
  const { batches = [] } = run.rollout ?? {};
  const inBatches = batches.slice(from - 1, to).reduce((sum, { targets }) => sum + targets, 0);
  const targets = countOf(Math.min(inBatches, run.counts.planned - endedCount(run.counts)), 'target');
  if (to - from + 1 >= batches.length) return targets;
  return `${from === to ? `batch ${from}` : `batches ${from} to ${to}`} of ${batches.length}: ${targets}`;
}

/** The message that a gate closed, with the first targets that did not do well, without secrets. */
export function messageAboutGate(run: Run, seen: readonly Seen[]): Message {
  const lines = seen
    .slice(0, MAX_NAMED)
    .map(({ label, is, why }) => `${label}: ${is}${why === undefined ? '' : ` (${why})`}`);
  const more = seen.length - lines.length;
  const text = [
    `${run.policy}: ${run.detail ?? 'a gate closed.'}`,
    ...lines,
    ...(more > 0 ? [`... and ${more} more.`] : []),
  ];
  return redact({ text: linesOf(text), ...toSummary(run) }) as Message;
}
