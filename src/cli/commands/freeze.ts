/** Freezes: no policy starts a run until the freeze ends, or none of an account or job; or targets are skipped. */
import { isoEnd } from '../../clock.ts';
import { beginFreeze, endFreeze } from '../../control/commands/freeze.ts';
import { freezeAnswer, listFreezes } from '../../control/commands/list-freezes.ts';
import { defined } from '../../defined.ts';
import { type FreezeScope, formatScope, isOfTargets } from '../../records/freeze-scope.ts';
import { effectOf, type Freeze, formatFreeze, formatFrozen } from '../../records/freeze-store.ts';
import { type Client, withClient, withReader } from '../client.ts';
import type { GlobalOptions, ReasonOption } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { freezeIn } from '../from-answers.ts';
import { type List, showList } from '../output/list.ts';
import type { Terminal } from '../output/terminal.ts';
import { endText, type UntilOptions } from '../parse-time.ts';

interface FreezeOptions extends GlobalOptions, UntilOptions {
  reason?: string;
  account?: string;
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
  const begin = async ({ act, clock }: Pick<Client<object>, 'act' | 'clock'>, more?: object) => {
    const input = { ...scope, until: needEnd(options, clock.now()), reason: options.reason };
    const { replaced, unchecked, ...begun } = await act(beginFreeze, input, more);
    if (unchecked !== null) terminal.message(unchecked);
    printFrozen(freezeIn(begun), replaced ? freezeIn(replaced) : undefined, terminal);
    return exit.ok;
  };
  if (Object.keys(scope).length > 0)
    return withClient('caretaker', terminal, options, (client) => begin(client));
  // Everything has no name to look up, so neither the jobs nor a client of the service is loaded.
  return withClient('records', terminal, options, (client) => begin(client, noNames));
}

const noNames = {
  settings: { accounts: {} },
  registry: { names: () => [] },
  link(account: string) {
    throw new Error(`A freeze of everything does not ask the account ${account}.`);
  },
};

const scopeOf = ({ account, job, client, tag }: FreezeOptions): FreezeScope =>
  defined({ account, job, client, tag });

function needEnd(options: FreezeOptions, now: number): string {
  const until = endText(options, now);
  if (until === undefined)
    throw new UsageError(
      'A freeze needs an end: --until 2026-12-01T08:00Z or --for 3d. To stop policies without an end, pause them.',
    );
  return until;
}

/** Prints what is frozen now. */
function printFrozen(freeze: Freeze, before: Freeze | undefined, terminal: Terminal): void {
  const { scope, until, id } = freeze;
  if (before) terminal.message(`This replaces an earlier freeze: everything was ${formatFreeze(before)}.`);
  if (scope === undefined) {
    terminal.message(
      `Everything is frozen until ${isoEnd(until)}: no policy starts a run until then. Active runs continue; "caretaker runs cancel" cancels one. "caretaker freeze end" ends the freeze early.`,
    );
    return;
  }
  const what = isOfTargets(scope)
    ? `Targets with ${formatScope(scope)} are frozen until ${isoEnd(until)}: runs that are planned until then skip them.`
    : `Policies with ${formatScope(scope)} are frozen until ${isoEnd(until)}: they start no run until then.`;
  terminal.message(
    `${what} Active runs continue; "caretaker runs cancel" cancels one. "caretaker freeze end ${id}" ends the freeze early.`,
  );
}

/** Lists the active freezes. */
export const freezes = (terminal: Terminal, options: GlobalOptions): Promise<number> =>
  withReader('records', terminal, options, async ({ read }) => {
    const { freezes: active } = await read(listFreezes, {}, { freezes: [] });
    const rows = active.map(freezeIn);
    const lines = rows.map(freezeAnswer);
    return showList(terminal, options, list, { rows, lines, none: 'Nothing is frozen.' });
  });

const list: List<Freeze> = {
  table: {
    id: ({ id }) => id ?? '-',
    frozen: formatFrozen,
    effect: effectOf,
    until: ({ until }) => isoEnd(until),
    by: ({ by }) => by,
    reason: ({ reason }) => reason,
  },
  csv: ['id account policy job client tag by since until reason'],
};

/** Ends a freeze early. Scheduled times that it skipped stay skipped. */
export const unfreeze = (
  terminal: Terminal,
  id: string | undefined,
  options: GlobalOptions & ReasonOption,
): Promise<number> =>
  withClient('records', terminal, options, async ({ act, read }) => {
    const { ended } = await act(endFreeze, { freeze: id ?? 'everything', reason: options.reason });
    const left = (await read(listFreezes, {}, { freezes: [] })).freezes.map(freezeIn);
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
    terminal.message(`The freeze ${id} has ended: ${formatFrozen(ended)} was ${formatFreeze(ended)}.`);
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
