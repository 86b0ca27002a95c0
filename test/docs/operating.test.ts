/** Compares docs/operating.md with the metrics of the code and the alert rules. */

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createProgram } from '../../src/cli/program.ts';
import { type Family, readExposition } from '../dashboard/exposition.ts';
import { PASSWORD, startWorld, type World } from '../dashboard/world.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld as startCaretaker } from '../support/caretaker.ts';
import { TestIo } from '../support/io.ts';

const root = resolve(import.meta.dirname, '../..');
const file = join(root, 'docs/operating.md');
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
  const table = families.map(rowOf).sort().join('\n');

  const page = readFileSync(file, 'utf8');
  const written = page.replace(/(<!-- metrics: [^\n]*\n[^\n]*\n[^\n]*\n)(?:\|[^\n]*\n)*/, `$1${table}\n`);
  await expect(written).toMatchFileSnapshot('../../docs/operating.md');
});

test('every alert is on the page with its severity, in the order of the rules', () => {
  const { groups } = parse(readFileSync(join(root, 'deploy/prometheus/alerts.yaml'), 'utf8'));
  const rules = groups.flatMap((group: { rules: { alert: string; labels: { severity: string } }[] }) =>
    group.rules.map(({ alert, labels }) => [alert, labels.severity]),
  );
  const told = [...readFileSync(file, 'utf8').matchAll(/^\| `(Caretaker\w+)` \| (\w+) \| \S/gm)];
  expect(told.map(([, alert, severity]) => [alert, severity])).toEqual(rules);
});

test('the commands to back up, upgrade and uninstall exist', async () => {
  const blocks = [...readFileSync(file, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(
    ([, block = '']) => block,
  );
  const commands = blocks.flatMap((block) => [...block.matchAll(/^caretaker ([^#\n]+?) *(?:#|$)/gm)]);
  expect(commands.length).toBeGreaterThan(7);
  for (const [, command = ''] of commands) {
    let found = false;
    const program = createProgram(
      () => async () => {
        found = true;
      },
      new TestIo(),
    );
    await program.parseAsync(command.split(' '), { from: 'user' });
    expect({ command, found }).toEqual({ command, found: true });
  }
});

test('the pattern of "Uninstall" finds all that Caretaker has in Redis', async () => {
  const { redis, fire, ended, stop } = await startCaretaker({ sites: 1 });
  await ended(await fire(aPolicy({ job: 'site-sync' })));
  const connection = new Redis(redis.options);
  const [, pattern = ''] = /--pattern '([^']+)'/.exec(readFileSync(file, 'utf8')) ?? [];
  const [all, found] = [await connection.keys('*'), await connection.keys(pattern)];
  connection.disconnect();
  await stop();

  expect(all.length).toBeGreaterThan(10);
  expect(found.sort()).toEqual(all.sort());
});
