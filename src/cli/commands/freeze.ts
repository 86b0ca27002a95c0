/** Freezes: no policy starts a run until the freeze ends, or none of an account or job; or targets are skipped. */

import { userInfo } from 'node:os';
import type { Caretaker } from '../../app/caretaker.ts';
import { loadJobs } from '../../app/jobs.ts';
import type { Client } from '../../client/client.ts';
import { allItems } from '../../client/pages.ts';
import { isoMinute, isoTime } from '../../clock.ts';
import { CaretakerError } from '../../errors.ts';
import { type FreezeScope, formatScope, isOfTargets } from '../../records/freeze-scope.ts';
import { effectOf, type Freeze, formatFreeze, formatFrozen } from '../../records/freeze-store.ts';
import type { Records } from '../../records/records.ts';
import type { Settings } from '../../settings/settings.ts';
import { suggestionFor } from '../../suggest.ts';
import { type GlobalOptions, hasRecords, settingsOf, withCaretaker, withRecords } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { type OutputOption, show } from '../output/show.ts';
import { type Terminal, table } from '../output/terminal.ts';
import { endOf, type UntilOptions } from '../parse-end-time.ts';

interface FreezeOptions extends GlobalOptions, UntilOptions {
  reason?: string;
  account?: string;
  job?: string;
  client?: string;
  tag?: string;
}

/**
 * Prevents policies from starting runs: all of them, or a part, beside other freezes. Active runs continue.
 * A client or a tag is looked up first, which costs a request per 100 of them in each account.
 */
export async function freeze(terminal: Terminal, options: FreezeOptions): Promise<number> {
  const settings = settingsOf(options);
  const scope = scopeOf(options);
  if (Object.keys(scope).length === 0)
    return withRecords(options, settings, async ({ records, clock }) =>
      freezeAll(records, options, clock.now(), terminal),
    );
  await checkNames(scope, settings);
  if (!isOfTargets(scope))
    return withRecords(options, settings, async ({ records, clock }) =>
      freezePart(records, scope, options, clock.now(), terminal),
    );
  return withCaretaker(options, settings, async (caretaker) => {
    await findParties(caretaker, scope, settings, terminal);
    return freezePart(caretaker.records, scope, options, caretaker.clock.now(), terminal);
  });
}

const scopeOf = ({ account, job, client, tag }: FreezeOptions): FreezeScope => ({
  ...(account === undefined ? {} : { account }),
  ...(job === undefined ? {} : { job }),
  ...(client === undefined ? {} : { client }),
  ...(tag === undefined ? {} : { tag }),
});

function needEnd(options: FreezeOptions, now: number): number {
  const until = endOf(options, now);
  if (until === undefined)
    throw new UsageError(
      'A freeze needs an end: --until 2026-12-01T08:00Z or --for 3d. To stop policies without an end, pause them.',
    );
  return until;
}

async function freezeAll(
  records: Records,
  options: FreezeOptions,
  at: number,
  terminal: Terminal,
): Promise<number> {
  const before = await records.freeze.at(at);
  const until = needEnd(options, at);
  const reason = options.reason ?? before?.reason;
  const by = userInfo().username;
  await records.freeze.begin({ at, by, until, ...(reason === undefined ? {} : { reason }) });
  if (before) terminal.message(`This replaces an earlier freeze: everything was ${formatFreeze(before)}.`);
  terminal.message(
    `Everything is frozen until ${isoMinute(until)}: no policy starts a run until then. Active runs continue; "caretaker runs cancel" cancels one. "caretaker unfreeze" ends the freeze early.`,
  );
  return exit.ok;
}

async function freezePart(
  records: Records,
  scope: FreezeScope,
  options: FreezeOptions,
  at: number,
  terminal: Terminal,
): Promise<number> {
  const until = needEnd(options, at);
  const { reason } = options;
  const by = userInfo().username;
  const added = await records.freeze.add({
    scope,
    at,
    by,
    until,
    ...(reason === undefined ? {} : { reason }),
  });
  const what = isOfTargets(scope)
    ? `Targets with ${formatScope(scope)} are frozen until ${isoMinute(until)}: runs that are planned until then skip them.`
    : `Policies with ${formatScope(scope)} are frozen until ${isoMinute(until)}: they start no run until then.`;
  terminal.message(
    `${what} Active runs continue; "caretaker runs cancel" cancels one. "caretaker unfreeze ${added.id}" ends the freeze early.`,
  );
  return exit.ok;
}

/** @throws {UsageError} for an account or a job that does not exist. */
async function checkNames({ account, job }: FreezeScope, settings: Settings): Promise<void> {
  const jobs = job === undefined ? [] : (await loadJobs()).names();
  needOneOf('account', account, Object.keys(settings.accounts));
  needOneOf('job', job, jobs);
}

function needOneOf(what: string, name: string | undefined, names: readonly string[]): void {
  if (name === undefined || names.includes(name)) return;
  const hint = suggestionFor(name, names);
  throw new UsageError(`There is no ${what} "${name}"${hint === undefined ? '' : `; ${hint}`}.`);
}

/**
 * Looks the client and the tag up. A message when an account could not be asked.
 *
 * @throws {UsageError} when all accounts were asked and none has it.
 */
async function findParties(
  caretaker: Caretaker,
  { account, client, tag }: FreezeScope,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const accounts = account === undefined ? Object.keys(settings.accounts) : [account];
  const clients: string[] = [];
  const tags: string[] = [];
  for (const name of accounts) {
    try {
      const link = caretaker.link(name).client;
      if (client !== undefined) clients.push(...(await namesOfClients(link)));
      if (tag !== undefined) tags.push(...(await namesOfTags(link)));
    } catch (error) {
      if (!(error instanceof CaretakerError)) throw error;
      terminal.message(
        `The account ${name} could not be asked whether it has them, so a misspelt name is not noticed: ${error.message}`,
      );
      return;
    }
  }
  needOneOf('client', client?.toLowerCase(), lowerCase(clients));
  needOneOf('tag', tag?.toLowerCase(), lowerCase(tags));
}

const lowerCase = (texts: readonly string[]) => texts.map((text) => text.toLowerCase());
const asPerson = { requestClass: 'person' } as const;

async function namesOfClients(link: Client): Promise<string[]> {
  const names: (string | undefined)[] = [];
  for await (const one of allItems('listClients', (page) => link.call('listClients', page, asPerson)))
    names.push(one.id, one.company_name, `${one.first_name} ${one.last_name}`);
  return names.flatMap((name) => name || []);
}

async function namesOfTags(link: Client): Promise<string[]> {
  const names: (string | undefined)[] = [];
  for await (const one of allItems('listTags', (page) => link.call('listTags', page, asPerson)))
    names.push(one.id, one.name);
  return names.flatMap((name) => name || []);
}

/** Lists the active freezes. */
export async function freezes(terminal: Terminal, options: GlobalOptions & OutputOption): Promise<number> {
  const settings = settingsOf(options);
  // A command that only reads does not start the embedded Redis.
  const active = hasRecords(settings)
    ? await withRecords(options, settings, ({ records, clock }) => records.freeze.active(clock.now()))
    : [];
  await show(terminal, options, {
    value: active.map(asJson),
    columns: ['id', 'account', 'job', 'client', 'tag', 'by', 'since', 'until', 'reason'],
    text: () => {
      if (active.length === 0) terminal.message('Nothing is frozen.');
      else
        terminal.data(
          table(['id', 'frozen', 'effect', 'until', 'by', 'reason'], active.map(cells), terminal.paint),
        );
    },
  });
  return exit.ok;
}

const asJson = ({ id, scope = {}, by, at, until, reason }: Freeze) => ({
  id: id ?? null,
  account: scope.account ?? null,
  job: scope.job ?? null,
  client: scope.client ?? null,
  tag: scope.tag ?? null,
  by,
  since: isoTime(at),
  until: isoTime(until),
  reason: reason ?? null,
});

const cells = (freeze: Freeze): string[] => [
  freeze.id ?? '-',
  formatFrozen(freeze),
  effectOf(freeze),
  isoMinute(freeze.until),
  freeze.by,
  freeze.reason ?? '',
];

/** Ends a freeze early. Scheduled times that it skipped stay skipped. */
export async function unfreeze(
  terminal: Terminal,
  id: string | undefined,
  options: GlobalOptions,
): Promise<number> {
  return withRecords(options, settingsOf(options), async ({ records, clock }) => {
    const now = clock.now();
    if (id !== undefined) {
      const ended = await records.freeze.lift(id, now);
      if (!ended) throw new UsageError(`There is no active freeze ${id}. "caretaker freezes" lists them.`);
      terminal.message(`The freeze ${id} has ended: ${formatFrozen(ended)} was ${formatFreeze(ended)}.`);
      return exit.ok;
    }
    const before = await records.freeze.at(now);
    if (before) await records.freeze.end(now);
    terminal.message(
      before
        ? `The freeze has ended, and policies run again. Everything was ${formatFreeze(before)}.`
        : 'There is no freeze of everything.',
    );
    for (const one of await records.freeze.scoped(now))
      terminal.message(
        `Still frozen: ${formatFrozen(one)}, ${formatFreeze(one)}. "caretaker unfreeze ${one.id}" ends that.`,
      );
    return exit.ok;
  });
}
