/** Freezes: no policy starts a run until the freeze ends, or none of an account or job; or targets are skipped. */
import type { OpenRecords } from '../../app/open-records.ts';
import { isoEnd } from '../../clock.ts';
import type { BaseDeps } from '../../control/command.ts';
import { beginFreeze, endFreeze, freezeAnswer } from '../../control/commands/freeze.ts';
import { InvalidRequestError, NotFoundError } from '../../control/errors.ts';
import type { NameDeps } from '../../control/freeze-names.ts';
import { defined } from '../../defined.ts';
import { type FreezeScope, formatScope, isOfTargets } from '../../records/freeze-scope.ts';
import { effectOf, type Freeze, formatFreeze, formatFrozen } from '../../records/freeze-store.ts';
import { carryOutHere } from '../carry-out-here.ts';
import {
  type GlobalOptions,
  hasRecords,
  type ReasonOption,
  settingsOf,
  withCaretaker,
  withRecords,
} from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { type OutputOption, show } from '../output/show.ts';
import { type Terminal, table } from '../output/terminal.ts';
import { endText, type UntilOptions } from '../parse-end-time.ts';

export interface FreezeOptions extends GlobalOptions, UntilOptions {
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
  const settings = settingsOf(terminal, options);
  const scope = scopeOf(options);
  const begin = async (deps: BaseDeps & NameDeps & Pick<OpenRecords, 'redis'>) => {
    const until = needEnd(options, deps.clock.now());
    const input = { ...scope, until, reason: options.reason };
    const begun = await carryOutHere(beginFreeze, deps, input, terminal).catch((error: unknown) => {
      throw error instanceof InvalidRequestError ? new UsageError(error.message) : error;
    });
    printFrozen(begun, terminal);
    return exit.ok;
  };
  if (Object.keys(scope).length > 0) return withCaretaker(terminal, options, settings, begin);
  // Everything has no name to look up, so neither the jobs nor a client of the service is loaded.
  return withRecords(terminal, options, settings, (opened) => begin({ ...opened, ...noNames }));
}

const noNames: NameDeps = {
  settings: { accounts: {} },
  registry: { names: () => [] },
  link(account) {
    throw new Error(`A freeze of everything does not ask the account ${account}.`);
  },
};

export const scopeOf = ({ account, job, client, tag }: FreezeOptions): FreezeScope =>
  defined({ account, job, client, tag });

export function needEnd(options: FreezeOptions, now: number): string {
  const until = endText(options, now);
  if (until === undefined)
    throw new UsageError(
      'A freeze needs an end: --until 2026-12-01T08:00Z or --for 3d. To stop policies without an end, pause them.',
    );
  return until;
}

/** Prints what is frozen now. */
export function printFrozen(
  {
    freeze,
    before,
    unchecked,
  }: { freeze: Freeze; before?: Freeze | undefined; unchecked?: string | undefined },
  terminal: Terminal,
): void {
  const { scope, until, id } = freeze;
  if (unchecked !== undefined) terminal.message(unchecked);
  if (before) terminal.message(`This replaces an earlier freeze: everything was ${formatFreeze(before)}.`);
  if (scope === undefined) {
    terminal.message(
      `Everything is frozen until ${isoEnd(until)}: no policy starts a run until then. Active runs continue; "caretaker runs cancel" cancels one. "caretaker unfreeze" ends the freeze early.`,
    );
    return;
  }
  const what = isOfTargets(scope)
    ? `Targets with ${formatScope(scope)} are frozen until ${isoEnd(until)}: runs that are planned until then skip them.`
    : `Policies with ${formatScope(scope)} are frozen until ${isoEnd(until)}: they start no run until then.`;
  terminal.message(
    `${what} Active runs continue; "caretaker runs cancel" cancels one. "caretaker unfreeze ${id}" ends the freeze early.`,
  );
}

/** Lists the active freezes. */
export async function freezes(terminal: Terminal, options: GlobalOptions & OutputOption): Promise<number> {
  const settings = settingsOf(terminal, options);
  // A command that only reads does not start the embedded Redis.
  const active = hasRecords(settings)
    ? await withRecords(terminal, options, settings, ({ records, clock }) =>
        records.freeze.active(clock.now()),
      )
    : [];
  await showFreezes(active, terminal, options);
  return exit.ok;
}

/** Shows freezes as a list. */
export const showFreezes = (active: readonly Freeze[], terminal: Terminal, options: OutputOption) =>
  show(terminal, options, {
    value: active.map(freezeAnswer),
    columns: ['id', 'account', 'job', 'client', 'tag', 'by', 'since', 'until', 'reason'],
    text: () => {
      if (active.length === 0) terminal.message('Nothing is frozen.');
      else
        terminal.data(
          table(['id', 'frozen', 'effect', 'until', 'by', 'reason'], active.map(cells), terminal.paint),
        );
    },
  });

const cells = (freeze: Freeze): string[] => [
  freeze.id ?? '-',
  formatFrozen(freeze),
  effectOf(freeze),
  isoEnd(freeze.until),
  freeze.by,
  freeze.reason ?? '',
];

/** Ends a freeze early. Scheduled times that it skipped stay skipped. */
export async function unfreeze(
  terminal: Terminal,
  id: string | undefined,
  options: GlobalOptions & ReasonOption,
): Promise<number> {
  return withRecords(terminal, options, settingsOf(terminal, options), async (opened) => {
    const input = { freeze: id ?? 'everything', reason: options.reason };
    const { ended } = await carryOutHere(endFreeze, opened, input, terminal).catch((error: unknown) => {
      throw error instanceof NotFoundError ? new UsageError(error.message) : error;
    });
    printUnfrozen({ id, ended, others: await opened.records.freeze.scoped(opened.clock.now()) }, terminal);
    return exit.ok;
  });
}

/** Prints which freeze has ended, and what is still frozen after a freeze of everything. */
export function printUnfrozen(
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
      `Still frozen: ${formatFrozen(one)}, ${formatFreeze(one)}. "caretaker unfreeze ${one.id}" ends that.`,
    );
}
