/** The figures and names of docs/budget.md are those of the code. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as scripts from '../../src/budget/scripts.ts';
import { classRules, type RequestClass, requestClasses } from '../../src/budget/ticket.ts';
import { available, nothing, type State } from '../budget/model.ts';

const page = readFileSync(new URL('../../docs/budget.md', import.meta.url), 'utf8');
/** The rows of the tables that begin with a name in code. */
const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (.*) \|$/gm)].map(([, name = '', cells = '']) => ({
  name,
  cells: cells.split(' | '),
}));

test('docs/budget.md has the share of each class', () => {
  const shown = rows.filter(({ cells }) => /%$/.test(cells[1] ?? ''));
  expect(shown.map(({ name, cells }) => [name, cells[1], cells[2]])).toEqual(
    requestClasses.map((name) => {
      const { share, bursty } = classRules[name];
      return [name, `${Math.round(share * 100)}%`, bursty ? 'bursty' : 'predictable'];
    }),
  );
});

test('docs/budget.md has the requests that each class finds at the beginning of a window', () => {
  const now = 1_000_000_000;
  const settings = { requestsPerMinute: 200, reserve: 0.1 };
  const window = { number: 1, remaining: 200, length: 60_000, known: true, scoutUntil: 0, ours: 0 };
  const begun: State = { ...nothing, window: { ...window, resets: now + 60_000 } };
  const everybody = Object.fromEntries(requestClasses.map((name) => [name, now]));
  const found = (name: RequestClass, asked: State['asked']) =>
    String(available({ ...begun, asked }, settings, name, now));

  const shown = rows.filter(({ cells }) => cells.length === 2 && cells.every((cell) => /^\d+$/.test(cell)));
  expect(shown.map(({ name, cells }) => [name, ...cells])).toEqual(
    requestClasses.map((name) => [name, found(name, everybody), found(name, {})]),
  );
});

test('each phase in docs/budget.md is one of the scripts', () => {
  const phases = rows.filter(({ cells }) => cells.length === 1).map(({ name }) => name);
  const named = Object.values(scripts).flatMap((script) =>
    [...script.matchAll(/local function (\w+)|local (\w+) = window.remaining/g)].map(
      ([, name, local]) => name ?? local,
    ),
  );
  expect(phases.length).toBeGreaterThan(10);
  expect(phases.filter((phase) => !named.includes(phase))).toEqual([]);
});
