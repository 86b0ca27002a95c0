import type { Policy } from '../../policy/policy.ts';
import { countOf } from '../../text.ts';
import {
  type GlobalOptions,
  noSuchPolicy,
  policiesOf,
  printFindings,
  settingsOf,
  withCaretaker,
} from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { clockOf } from '../io.ts';
import { type List, listTable } from '../output/list.ts';
import { show } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';
import { warnIncomplete } from '../output/warn-incomplete.ts';
import { atOf } from '../parse-time.ts';

export type SaveInventoryOptions = GlobalOptions & { account: string; policy?: string[]; at?: string };

/**
 * Saves the lists of an account, and what else its policies read, in a file. Costs one request per 100
 * items of each list, and one for each item that is read alone. Changes nothing.
 */
export async function saveInventory(
  terminal: Terminal,
  file: string | undefined,
  options: SaveInventoryOptions,
): Promise<number> {
  const settings = settingsOf(terminal, options);
  const { accountOf } = await import('../../settings/account.ts');
  const { saveInventory: save } = await import('../../offline/inventory/save.ts');
  const { checkWritable, writeInventory } = await import('../../offline/inventory/file.ts');
  const account = accountOf(settings, options.account);
  const loaded = await policiesOf(settings);
  const named = options.policy?.map((name) => {
    const policy = loaded.policies.find((one) => one.name === name);
    if (!policy) throw noSuchPolicy(name, settings, loaded);
    return ofAccount(policy, account.name);
  });
  if (!named) printFindings(loaded.findings, terminal);
  const policies = named ?? loaded.policies.filter((policy) => policy.account === account.name);
  const at = atOf(options.at, clockOf(terminal.io).now());
  // Before any request is spent.
  if (file !== undefined) checkWritable(file);

  const saved = await withCaretaker(terminal, options, settings, ({ link, clock, registry }) => {
    const { client } = link(account.name);
    const onRead: Parameters<typeof save>[0]['onRead'] = ({ operation, items }) =>
      terminal.show(items ? `${operation}: ${countOf(items.length, 'item')}` : operation);
    const onIncomplete = warnIncomplete(terminal);
    return save({ account, client, clock, registry, policies, at, allLists: !named, onRead, onIncomplete });
  });
  terminal.clear();
  const { inventory, requests, incomplete } = saved;
  const target =
    file ?? `inventory-${account.name}-${new Date(inventory.savedAt).toISOString().slice(0, 10)}.json.gz`;
  const bytes = writeInventory(target, inventory);
  const lists = listsIn(inventory.entries);
  const single = inventory.entries.filter(({ items }) => !items).length;
  const value = {
    file: target,
    bytes,
    requests,
    lists: Object.fromEntries(lists),
    single_reads: single,
    incomplete,
  };
  const rows = lists.map(([list, items]) => ({ list, items }));
  const text = () => {
    terminal.data(listTable(counted, rows, terminal));
    if (single > 0) terminal.data(`and ${countOf(single, 'answer')} about single items or refusals.`);
    terminal.message(
      `Saved ${target} (${Math.ceil(bytes / 1024)} KiB, without secrets). It cost ${countOf(requests, 'request')}.`,
    );
  };
  await show(terminal, options, { value, rows, text });
  for (const { policy, why } of incomplete)
    terminal.message(
      `${terminal.paint('yellow', 'warning')}: what ${policy} reads could not be saved completely: ${why}`,
    );
  return exit.ok;
}

const counted: List<{ list: string; items: number }> = {
  table: { list: ({ list }) => list, items: ({ items }) => items },
};

function ofAccount(policy: Policy, account: string): Policy {
  if (policy.account === account) return policy;
  throw new UsageError(
    `The policy "${policy.name}" is for the account "${policy.account}": add --account ${policy.account}.`,
  );
}

/** How many items of each list there are, those of all sites together. */
function listsIn(entries: readonly { operation: string; items?: readonly object[] }[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { operation, items } of entries)
    if (items) counts.set(operation, (counts.get(operation) ?? 0) + items.length);
  return [...counts];
}
