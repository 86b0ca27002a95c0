/** Freezes: no policy starts a run until the freeze ends, or none of an account or job; or targets are skipped. */
import { isoEnd, isoMinute, isoTime } from '../../clock.ts';
import { beginFreeze, endFreeze } from '../../control/commands/freeze.ts';
import { listFreezes, noFreezes } from '../../control/commands/list-freezes.ts';
import { defined } from '../../defined.ts';
import { type FreezeScope, formatRule, formatScope, isOfTargets } from '../../records/freeze-scope.ts';
import { effectOf, type Freeze, formatFreeze, formatFrozen } from '../../records/freeze-store.ts';
import { type Client, withClient, withReader } from '../client.ts';
import type { GlobalOptions, ReasonOption } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { freezeIn } from '../from-answers.ts';
import { type List, showList } from '../output/list.ts';
import type { Terminal } from '../output/terminal.ts';
import { atOf, endText, type UntilOptions } from '../parse-time.ts';

interface FreezeOptions extends GlobalOptions, UntilOptions {
  reason?: string;
  from?: string;
  every?: string[];
  timezone?: string;
  account?: string;
  policy?: string;
  job?: string;
  client?: string;
  tag?: string;
}

/**
 * Prevents policies from starting runs: all of them, or a part, in addition to other freezes. Active runs continue.
 * A client or a tag is looked up first, which costs a request per 100 of them in each account.
 */
export async function freeze(terminal: Terminal, options: FreezeOptions): Promise<number> {
  const scope = scopeOf(options);
  checkTimes(options, Object.keys(scope).length > 0);
  const begin = async ({ act, clock }: Pick<Client<object>, 'act' | 'clock'>, more?: object) => {
    const { reason, every, timezone } = options;
    const from = atOf(options.from, clock.now(), '--from');
    const times = every
      ? { cron: every, for: options.for, timezone }
      : { until: needEnd(options, clock.now()), ...(from === undefined ? {} : { from: isoTime(from) }) };
    const { replaced, unchecked, ...begun } = await act(beginFreeze, { ...scope, ...times, reason }, more);
    if (unchecked !== null) terminal.message(unchecked);
    printFrozen(freezeIn(begun), replaced ? freezeIn(replaced) : undefined, clock.now(), terminal);
    return exit.ok;
  };
  if (Object.keys(scope).length > 0)
    return withClient('caretaker', terminal, options, async (client) => {
      if (scope.policy === undefined || !client.here) return begin(client);
      const { settings, records, clock } = client.here;
      const { knownPolicies } = await import('../effective-policies.ts');
      const known = await knownPolicies(settings, records, clock.now());
      return begin(client, { policies: () => known });
    });
  // Everything has no name to look up, so neither the jobs nor a client of the service is loaded.
  return withClient('records', terminal, options, (client) => begin(client, noNames));
}

const noNames = {
  settings: { accounts: {} },
  registry: { names: () => [] },
  noteMaintenance: async () => undefined,
  link(account: string) {
    throw new Error(`A freeze of everything does not ask the account ${account}.`);
  },
};

const scopeOf = ({ account, policy, job, client, tag }: FreezeOptions): FreezeScope =>
  defined({ account, policy, job, client, tag });

/** In the words of the options; what they leave out would freeze everything, or at once. */
function checkTimes({ every, for: ms, until, from, timezone }: FreezeOptions, hasScope: boolean): void {
  if (every && (ms === undefined || until !== undefined || from !== undefined))
    throw new UsageError('--every needs --for, how long each freeze lasts, and neither --until nor --from.');
  if (!every && timezone !== undefined)
    throw new UsageError('--timezone is that of --every, which is missing: the freeze would not recur.');
  if ((every || from !== undefined) && !hasScope)
    throw new UsageError(
      'A freeze of everything begins at once, and does not recur: give --policy, --account, --job, --client or --tag.',
    );
}

function needEnd(options: FreezeOptions, now: number): string {
  const until = endText(options, now);
  if (until === undefined)
    throw new UsageError(
      'A freeze needs an end: --until 2026-12-01T08:00Z or --for 3d. To stop policies without an end, pause them.',
    );
  return until;
}

/** Prints what is frozen now, or from a later time. */
function printFrozen(freeze: Freeze, before: Freeze | undefined, now: number, terminal: Terminal): void {
  const { scope, at, until, id, rule } = freeze;
  if (before) terminal.message(`This replaces an earlier freeze: everything was ${formatFreeze(before)}.`);
  if (scope === undefined) {
    terminal.message(
      `Everything is frozen until ${isoEnd(until)}: no policy starts a run until then. Active runs continue; "caretaker runs cancel" cancels one. "caretaker freeze end" ends the freeze early.`,
    );
    return;
  }
  if (rule) {
    terminal.message(
      `${isOfTargets(scope) ? 'Targets' : 'Policies'} with ${formatScope(scope)} are frozen ${formatRule(rule)}: the first time from ${isoMinute(at)} until ${isoEnd(until)}. "caretaker freeze end ${rule.id}" ends all of it, "caretaker freeze end ${id}" this time.`,
    );
    return;
  }
  const [time, during] =
    at > now
      ? [`from ${isoMinute(at)} until ${isoEnd(until)}`, 'in that time']
      : [`until ${isoEnd(until)}`, 'until then'];
  const what = isOfTargets(scope)
    ? `Targets with ${formatScope(scope)} are frozen ${time}: runs that are planned ${during} skip them.`
    : `Policies with ${formatScope(scope)} are frozen ${time}: they start no run ${during}.`;
  terminal.message(
    `${what} Active runs continue; "caretaker runs cancel" cancels one. "caretaker freeze end ${id}" ends the freeze early.`,
  );
}

/** Lists the freezes: those that are active, and then those that begin later. */
export const freezes = (terminal: Terminal, options: GlobalOptions): Promise<number> =>
  withReader('records', terminal, options, async ({ read }) => {
    const { freezes: active, planned } = await read(listFreezes, {}, noFreezes);
    const lines = [...active, ...planned];
    return showList(terminal, options, list, {
      rows: lines.map(freezeIn),
      lines,
      none: 'Nothing is frozen.',
    });
  });

const list: List<Freeze> = {
  table: {
    id: ({ id }) => id ?? '-',
    frozen: formatFrozen,
    effect: effectOf,
    from: ({ at }) => isoMinute(at),
    until: ({ until }) => isoEnd(until),
    repeats: ({ rule }) => rule && `${formatRule(rule)}, ${rule.id}`,
    by: ({ by }) => by,
    reason: ({ reason }) => reason,
  },
  shrink: ['repeats: 12', 'reason: 12', 'effect: 0', 'repeats: 0', 'reason: 0'],
  csv: ['id account policy job client tag by since until reason rule.id rule.cron rule.timezone rule.for'],
};

/** Ends a freeze early. Scheduled times that it skipped stay skipped. */
export const unfreeze = (
  terminal: Terminal,
  id: string | undefined,
  options: GlobalOptions & ReasonOption,
): Promise<number> =>
  withClient('records', terminal, options, async ({ act, read }) => {
    const { ended } = await act(endFreeze, { freeze: id ?? 'everything', reason: options.reason });
    const left = (await read(listFreezes, {}, noFreezes)).freezes.map(freezeIn);
    const others = left.filter(({ scope }) => scope !== undefined);
    printUnfrozen({ id, ended: ended ? freezeIn(ended) : undefined, others }, terminal);
    return exit.ok;
  });

/** Prints which freeze has ended, and what is still frozen after a freeze of everything. */
function printUnfrozen(
  { id, ended, others }: { id: string | undefined; ended: Freeze | undefined; others: readonly Freeze[] },
  terminal: Terminal,
): void {
  if (id !== undefined && ended) {
    const how =
      ended.rule?.id === id ? `frozen by ${ended.by} ${formatRule(ended.rule)}` : formatFreeze(ended);
    terminal.message(`The freeze ${id} has ended: ${formatFrozen(ended)} was ${how}.`);
    return;
  }
  terminal.message(
    ended
      ? `The freeze has ended, and policies run again. Everything was ${formatFreeze(ended)}.`
      : 'There is no freeze of everything.',
  );
  for (const one of others)
    terminal.message(
      `Still frozen: ${formatFrozen(one)}, ${formatFreeze(one)}. "caretaker freeze end ${one.id}" ends that.`,
    );
}
