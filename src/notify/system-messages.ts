/** What follows from a notice that is about no run: messages to the receivers that have its word under `events`. */
import type { Following, SystemNotice } from '../records/notice-store.ts';
import type { KnownProblems, Problem } from '../records/problem-store.ts';
import { redact } from '../secrets.ts';
import { defaultRules } from '../settings/receiver.ts';
import { visibleLine } from '../text.ts';
import { type FollowingDeps, repeatMsOf } from './wanted.ts';

// Whether a receiver is notified of a problem again; pure. By the convention of Alertmanager's `repeat_interval`.

/** What is kept of the statuses and reasons that a receiver knows; with more, the oldest count as unknown again. */
const MAX_FACTS = 20;

interface Occurrence {
  at: number;
  /** What is known of it, such as its status and its reasons. A fact that the receiver does not know is reported. */
  facts: readonly string[];
  /** Whether the receiver wants to know of it at all. */
  isWanted: boolean;
  repeatMs: number;
}

/**
 * The problem after it has occurred again, and whether its receiver is notified: of what is new to it, and otherwise
 * when the last message is `repeatMs` old.
 */
export function afterOccurrence(
  before: Problem | undefined,
  { at, facts, isWanted, repeatMs }: Occurrence,
): { problem: Problem; notifies: boolean } {
  const { count = 0, since = at, told = [], toldAt } = before ?? {};
  const isNew = toldAt === undefined || facts.some((fact) => !told.includes(fact));
  // Also when the clock went back behind the last message.
  const notifies = isWanted && (isNew || Math.abs(at - toldAt) >= repeatMs);
  const problem = { count: count + 1, since, told, ...(toldAt === undefined ? {} : { toldAt }) };
  if (!notifies) return { problem, notifies };
  const known = [...told.filter((fact) => !facts.includes(fact)), ...facts].slice(-MAX_FACTS);
  return { problem: { ...problem, told: known, toldAt: at }, notifies };
}

interface SystemResult {
  to: string[];
  event: string;
  message: { text: string };
  about?: string;
  changes: Following['changes'];
}

/** Of what of an account the end of a problem ends a problem. */
const subjects: Partial<Record<SystemNotice['event'], string>> = {
  'budget-cannot-fit': 'budget',
  'budget-fits': 'budget',
  'account-moved': 'address',
  'account-matches': 'address',
};

/** Who is notified of it, and what they then know. */
export async function systemResultOf(deps: FollowingDeps, notice: SystemNotice): Promise<SystemResult> {
  const { records, receivers } = deps;
  const { event, at, account, policy, detail } = notice;
  const asked = Object.keys(receivers).filter((name) =>
    receivers[name]?.events?.some((word) => word === event),
  );
  const base = {
    event: `system.${event}`,
    message: redact({
      // Only our own text has several lines: a line break of the service must not begin one.
      text: event === 'budget-cannot-fit' ? detail : visibleLine(detail),
      ...(account && { account }),
      ...(policy && { policy }),
    }) as {
      text: string;
    },
  };
  if (event === 'account-blocked' && account !== undefined) {
    const known = await records.problems.ofAccount(account);
    return { ...base, ...newTo(known, 'blocked', asked, deps, at), about: `account ${account}` };
  }
  if (event === 'account-back' && account !== undefined) {
    const known = await records.problems.ofAccount(account);
    const notified = [...known.all('blocked').keys()];
    const changes = notified.map((to) => known.change('blocked', to, undefined));
    return { ...base, to: [...new Set([...notified, ...asked])], changes, about: `account ${account}` };
  }
  if (event === 'missed-time' && policy !== undefined) {
    const known = await records.problems.ofPolicy(policy);
    return { ...base, ...newTo(known, 'missed', asked, deps, at) };
  }
  const subject = subjects[event];
  const about = subject !== undefined && account !== undefined ? { about: `${subject} ${account}` } : {};
  return { ...base, to: asked, changes: [], ...about };
}

/**
 * Of these receivers those that are notified, once in `repeat_interval`; and the changes for all of them. What has no end
 * is not a problem that goes on, so that `never` does not silence it.
 */
export function newTo(
  known: KnownProblems,
  kind: Parameters<KnownProblems['of']>[0],
  receivers: readonly string[],
  deps: Pick<FollowingDeps, 'receivers'>,
  at: number,
): { to: string[]; changes: Following['changes'] } {
  const each = receivers.map((to) => {
    const before: Problem | undefined = known.of(kind, to);
    const asked = repeatMsOf(deps.receivers[to]);
    const repeatMs = kind === 'blocked' || Number.isFinite(asked) ? asked : defaultRules.repeat_interval;
    const occurrence = { at, facts: [kind], isWanted: true, repeatMs };
    const { problem, notifies } = afterOccurrence(before, occurrence);
    return { to: notifies ? [to] : [], change: known.change(kind, to, problem) };
  });
  return { to: each.flatMap(({ to }) => to), changes: each.map(({ change }) => change) };
}
