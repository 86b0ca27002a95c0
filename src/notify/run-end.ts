/** The messages about the end of a run: a failure is reported once and after `repeat_interval`, and so is its recovery. */
import type { Policy } from '../policy/policy.ts';
import type { ProblemChange, ProblemKind } from '../records/problem-store.ts';
import type { Records } from '../records/records.ts';
import type { Run, RunStatus } from '../run/run.ts';
import { failedTargetsOf } from './failed-targets.ts';
import { repeatMsOf } from './hold.ts';
import { messageAbout, messageAboutRecovery } from './message.ts';
import { afterOccurrence } from './problem.ts';
import { newTo } from './system-messages.ts';
import type { FollowingDeps, Wanted } from './wanted.ts';

const failures: readonly RunStatus[] = ['failed', 'partial', 'stopped'];

interface End {
  at: number;
  notify: Policy['notify'];
}

interface About {
  wanted: Wanted[];
  changes: readonly ProblemChange[];
}

/** The messages about the end of a run, or about its refusal by the account; and what the receivers then know. */
export async function aboutEnd(deps: FollowingDeps, run: Run, end: End): Promise<About> {
  const { status } = run;
  if (failures.includes(status)) return aboutFailure(deps, run, end);
  if (status === 'succeeded') return aboutSuccess(deps, run);
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
async function factsOf({ targets }: Pick<Records, 'targets'>, { id, status }: Run): Promise<string[]> {
  const reasons = (await targets.reasons([id])).get(id) ?? [];
  return [status, ...reasons.filter(({ outcome }) => outcome === 'failed').map(({ reason }) => reason)];
}

/** Receivers that were notified of the failures before it get the message about the recovery. */
async function aboutSuccess(deps: FollowingDeps, run: Run): Promise<About> {
  const known = await deps.records.problems.ofPolicy(run.policy);
  const open = [...known.all('runs')];
  const success = theEnd(run, messageAbout(run));
  if (open.length === 0 || !(await isOfAll(deps.records, run))) return { wanted: [success], changes: [] };
  const recovered = open.flatMap(([to, problem]): Wanted[] => {
    if (problem.toldAt === undefined) return [];
    const message = messageAboutRecovery(run, problem);
    return [{ on: 'recovered', event: 'run.recovered', message, about: `runs ${run.policy}`, to }];
  });
  // A receiver that is no longer in the policy is forgotten, too.
  const changes = open.map(([to]) => known.change('runs', to, undefined));
  return { wanted: [...recovered, success], changes };
}

/** A run over some targets, which a person named, does not show that the others are well. A retry covers what failed. */
const isOfAll = async ({ runs }: Pick<Records, 'runs'>, { id, retryOf }: Run): Promise<boolean> =>
  retryOf !== undefined || (await runs.only(id)).length === 0;

/** Those who asked for one of these words. */
const receiversOf = (notify: Policy['notify'], words: readonly string[]): string[] => [
  ...new Set(notify.flatMap(({ on, to }) => (on.some((word) => words.includes(word)) ? [to] : []))),
];

/** Who is notified of something that has no end: once, and again when `repeat_interval` has passed. */
export async function oncePerInterval(
  deps: FollowingDeps,
  kind: Extract<ProblemKind, 'skipped' | 'deadline'>,
  { policy }: Run,
  { at, notify }: End,
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
