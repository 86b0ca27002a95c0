/** The accounts of the configuration, and which services their records belong to. */
import { randomUUID } from 'node:crypto';
import { serviceAddress } from '../../contract/service-address.ts';
import { AccountNotSetUpError, accountOf } from '../../settings/account.ts';
import type { Settings } from '../../settings/settings.ts';
import { countOf } from '../../text.ts';
import { isAskable, isConfirmed } from '../ask.ts';
import { localActor, noteNoDaemon } from '../carry-out-here.ts';
import { type GlobalOptions, hasRecords, type ReasonOption, settingsOf, withRecords } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { type List, showList } from '../output/list.ts';
import type { OutputOption } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';

interface Row {
  name: string;
  /** The address in the configuration. */
  address: string | undefined;
  /** The address that its records belong to. */
  bound: string | undefined;
}

/** Lists them. An account without records belongs to no service yet. */
export async function accounts(terminal: Terminal, options: GlobalOptions & OutputOption): Promise<number> {
  const settings = settingsOf(terminal, options);
  // A command that only reads does not start the embedded Redis.
  const bound = hasRecords(settings)
    ? await withRecords(terminal, options, settings, ({ records }) => records.accounts.addresses())
    : new Map<string, string>();
  const rows = rowsOf(settings, bound);
  return showList(terminal, options, list, {
    rows,
    value: rows.map(({ name, address = null, bound = null }) => ({ name, address, bound })),
    below() {
      for (const row of rows)
        if (isMoved(row))
          terminal.message(
            `Nothing is done for the account "${row.name}" here. If its service itself has moved: caretaker accounts move ${row.name}`,
          );
    },
  });
}

function rowsOf({ accounts }: Settings, bound: ReadonlyMap<string, string>): Row[] {
  const known = Object.values(accounts).map(({ name, baseUrl }) => ({
    name,
    address: baseUrl === undefined ? undefined : serviceAddress(baseUrl),
    bound: bound.get(name),
  }));
  const others = [...bound].filter(([name]) => !Object.hasOwn(accounts, name));
  return [...known, ...others.map(([name, address]) => ({ name, address: undefined, bound: address }))];
}

const isMoved = ({ address, bound }: Row): boolean =>
  address !== undefined && bound !== undefined && address !== bound;

const stateOf = (row: Row): string => {
  if (isMoved(row)) return 'another service';
  if (row.address === undefined) return 'no address in the configuration';
  return row.bound === undefined ? 'no records yet' : 'ok';
};

const list: List<Row> = {
  table: {
    account: ({ name }) => name,
    address: ({ address }) => address ?? '-',
    'records belong to': ({ bound }) => bound ?? '-',
    '': stateOf,
  },
  csv: ['name address bound'],
};

/** Binds the records of an account to the address in the configuration, because its service has moved there. */
export async function moveAccount(
  terminal: Terminal,
  name: string,
  options: GlobalOptions & ReasonOption & { yes?: boolean },
): Promise<number> {
  const settings = settingsOf(terminal, options);
  if (!Object.hasOwn(settings.accounts, name)) accountOf(settings, name);
  const baseUrl = settings.accounts[name]?.baseUrl;
  if (baseUrl === undefined)
    throw new AccountNotSetUpError(
      name,
      `The account "${name}" has no base URL: set the address that it has now.`,
    );
  const address = serviceAddress(baseUrl);
  const { yes = false, reason } = options;
  return withRecords(terminal, options, settings, async (opened) => {
    const { records, audit } = opened;
    const bound = await records.accounts.addressOf(name);
    if (bound === undefined || bound === address) {
      terminal.message(
        bound === undefined
          ? `The account "${name}" has no records yet: its first run binds them to ${address}.`
          : `The records of the account "${name}" belong to ${address} already.`,
      );
      return exit.ok;
    }
    const active = await records.runs.countActive(name);
    if (active > 0) throw new UsageError(activeRuns(name, active));
    terminal.message(
      `The records of the account "${name}" belong to ${bound}. From now on they will belong to ${address}: every process that is configured with ${bound} then refuses to work on the account, and ids in the records (sites, tasks, notes) are looked for at ${address}. Do this only if the same service, with the same account, has moved.`,
    );
    if (!yes && !isAskable(terminal))
      throw new UsageError(
        'Nothing was moved: there is no terminal to ask for confirmation. --yes moves it without asking.',
      );
    if (!yes && !(await isConfirmed('Move it? Only "yes" does: ', 'Nothing was moved.', terminal))) {
      terminal.message('Nothing was moved.');
      return exit.notAllWell;
    }
    const { principal, from } = localActor();
    const line = {
      act: randomUUID(),
      who: { kind: principal.kind, name: principal.name },
      from,
      what: 'accounts.move',
      account: name,
      detail: `${bound} -> ${address}`,
      ...(reason === undefined ? {} : { why: reason }),
    };
    await audit.write({ ...line, result: 'requested' });
    if (!(await records.accounts.move(name, address))) {
      const message = activeRuns(name, await records.runs.countActive(name));
      await audit.writeResult({ ...line, result: 'refused', code: 'USAGE', message });
      throw new UsageError(message);
    }
    await audit.writeResult({ ...line, result: 'done' });
    terminal.message(`The records of the account "${name}" belong to ${address} now.`);
    await noteNoDaemon(opened, terminal);
    return exit.ok;
  });
}

const activeRuns = (name: string, active: number): string =>
  `Nothing was moved: ${countOf(active, 'run')} of the account "${name}" ${active === 1 ? 'has' : 'have'} not ended. Wait, or cancel: "caretaker runs" lists them, and "caretaker runs cancel <run> --force" ends one at once.`;
