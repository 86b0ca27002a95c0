/** Compares docs/operating.md with the metrics of the code and the alert rules. */

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Family, readExposition } from '../dashboard/exposition.ts';
import { PASSWORD, startWorld, type World } from '../dashboard/world.ts';
import { isCommand } from './readme-commands.ts';
import { withRows } from './table.ts';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/operating.md'), 'utf8');
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const familiesNow = async () => {
  const answer = await world.ask('/metrics', { headers: { authorization: `Bearer ${PASSWORD}` } });
  const all = [...readExposition(await answer.text()).families.values()];
  return all.filter(({ name }) => name.startsWith('caretaker_'));
};

test('every metric is on the page with its meaning, and which are served without Redis', async () => {
  const families = await familiesNow();
  world.health.redis = 'down';
  const own = new Set((await familiesNow()).map(({ name }) => name));
  world.health.redis = 'up';
  const rowOf = ({ name, type, help }: Family) =>
    `| \`${name}\` | ${type}${own.has(name) ? ', *own*' : ''} | ${help} |`;
  await expect(withRows(page, '<!-- metrics: ', families.map(rowOf).sort())).toMatchFileSnapshot(
    '../../docs/operating.md',
  );
});

test('every alert is on the page with its severity, in the order of the rules', () => {
  const { groups } = parse(readFileSync(join(root, 'deploy/prometheus/alerts.yaml'), 'utf8'));
  const rules = groups.flatMap((group: { rules: { alert: string; labels: { severity: string } }[] }) =>
    group.rules.map(({ alert, labels }) => [alert, labels.severity]),
  );
  const told = [...page.matchAll(/^\| `(Caretaker\w+)` \| (\w+) \| \S/gm)];
  expect(told.map(([, alert, severity]) => [alert, severity])).toEqual(rules);
});

test('the commands to back up, upgrade and uninstall exist', async () => {
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block);
  const commands = blocks.flatMap((block) => [...block.matchAll(/^caretaker ([^#\n]+?) *(?:#|$)/gm)]);
  expect(commands.length).toBeGreaterThan(7);
  for (const [, command = ''] of commands)
    expect({ command, found: await isCommand(command.split(' ')) }).toEqual({ command, found: true });
});

// `test/redis/prefix.test.ts` shows that all keys begin with this.
test('the pattern of "Uninstall" finds all that Caretaker has in Redis', () => {
  expect(page).toContain("--scan --pattern '{caretaker}*'");
});
