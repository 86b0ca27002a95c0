/** In a generated world the numbers of a page add up, and two pages say the same. */
import { afterEach, expect, test } from 'vitest';
import { check } from '../../jobs/check/job.ts';
import { createRegistry } from '../../src/job/registry.ts';
import type { Run, Target } from '../../src/run/run.ts';
import { aTarget } from '../support/builders.ts';
import { aPolicy, aRun, ended, remember, startWorld, textOf, type World } from './world.ts';

let world: World;
afterEach(() => world.stop());

const HOUR = 3_600_000;
const NOW = Date.now();
const ends = [
  ['succeeded', 'done'],
  ['succeeded', 'already-done'],
  ['failed', 'timeout'],
  ['failed', 'task-failed'],
  ['failed', 'found'],
  ['skipped', 'gone'],
  ['skipped', 'daily-limit'],
  ['cancelled', 'run-cancelled'],
] as const;
const words = ['succeeded', 'found', 'failed', 'skipped', 'cancelled'];

/** The same numbers in every run of the test. */
let state = 7;
const below = (limit: number): number => {
  state = (state * 48_271) % 2_147_483_647;
  return state % limit;
};

async function addRun(
  id: string,
  policy: string,
  targets: Target[],
  hoursAgo: number,
  more: Partial<Run> = {},
) {
  const run = aRun({ id, policy, createdAt: NOW - hoursAgo * HOUR, ...more });
  await remember(world.records, run, targets);
  const of = (reason: string) =>
    targets.filter((one) => one.outcome === 'failed' && one.reason === reason).length;
  const failed = of('timeout') + of('task-failed') + of('found');
  if (targets.some(({ outcome }) => outcome === undefined)) return;
  const status =
    failed === 0 ? 'succeeded' : targets.some((one) => one.outcome === 'succeeded') ? 'partial' : 'failed';
  await world.records.runs.move(run, status, { at: NOW - hoursAgo * HOUR, found: of('found') });
}

async function generate(): Promise<string[]> {
  const ids: string[] = [];
  const anEnd = (id: string): Target => {
    const [outcome, reason] = ends[below(ends.length)] ?? ends[0];
    return ended(id, outcome, { reason });
  };
  for (let at = 0; at < 24; at += 1) {
    const id = `run-${at}`;
    const targets = Array.from({ length: 1 + below(9) }, (_, index) => anEnd(`t${index}`));
    if (at % 8 === 7) targets.push(aTarget('open'));
    await addRun(id, `policy-${at % 5}`, targets, below(23));
    ids.push(id);
  }
  // A run with two failures, and its retry with the same two.
  const two = ['a', 'b'].map((id) => ended(id, 'failed', { reason: 'timeout' }));
  await addRun('first', 'twice', two, 2);
  await addRun('again', 'twice', two, 1, { trigger: 'retry', retryOf: 'first' });
  return [...ids, 'first', 'again'];
}

const countsIn = (text: string): Record<string, number> =>
  Object.fromEntries(
    [...text.matchAll(/([\d,]+) (succeeded|found|failed|skipped|cancelled)\b/g)].map(
      ([, count = '', word = '']) => [word, Number(count.replace(',', ''))],
    ),
  );
const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);
const part = (html: string, id: string): string =>
  html.slice(html.indexOf(`id="${id}"`)).split('</section>')[0] ?? '';

test('the parts of every page add up to its sums, and a number is the same on each page', async () => {
  const names = ['twice', ...Array.from({ length: 5 }, (_, at) => `policy-${at}`)];
  world = await startWorld({
    policies: () => names.map((name) => aPolicy(name)),
    registry: createRegistry([check]),
  });
  const ids = await generate();
  const ask = await world.signedIn();
  const read = async (path: string) => (await ask(path)).text();
  const [overview, runs] = [await read('/'), await read('/runs')];

  // The head of the overview: runs by status, targets by outcome. The chart has the same targets.
  const head = textOf(part(overview, 'headline'));
  const [, runCount, byStatus = '', targetCount, byOutcome = ''] =
    /24 hours (\d+) (.*?) Targets that failed \d+ of (\d+): (.*?) Need attention/.exec(head) ?? [];
  const statuses = byStatus.split(', ').map((one) => one.split(' '));
  expect(Number(runCount)).toBe(ids.length);
  expect(sum(statuses.map(([count]) => Number(count)))).toBe(ids.length);
  const outcomes = countsIn(byOutcome);
  expect(sum(Object.values(outcomes))).toBe(Number(targetCount));
  const day = part(overview, 'day');
  const columns = [...day.matchAll(/<tr>(?:<th scope="row">.*?<\/th>)((?:<td>\d+<\/td>)+)<\/tr>/g)].map(
    ([, cells = '']) => [...cells.matchAll(/\d+/g)].map(Number),
  );
  expect(words.map((_, at) => sum(columns.map((one) => one[at] ?? 0)))).toEqual(
    words.map((word) => outcomes[word] ?? 0),
  );
  const skipped = [
    ...textOf(day.slice(day.indexOf('<summary>Skipped'))).matchAll(/(\d+) (skipped|cancelled),/g),
  ];
  expect(sum(skipped.map(([, count]) => Number(count)))).toBe(
    (outcomes['skipped'] ?? 0) + (outcomes['cancelled'] ?? 0),
  );

  // Each line that needs attention has the number of the list that it leads to.
  const lines = [
    ...part(overview, 'attention').matchAll(
      /<a[^>]*href="(\/runs\/[^"]*reason|\/runs\/[^"]*)"[^>]*>(?:<svg.*?<\/svg>)?(\d+) (failed|found)/g,
    ),
  ];
  expect(lines.length).toBeGreaterThan(5);
  for (const [, href = '', count, word] of lines) {
    const page = await read(href.replaceAll('&amp;', '&'));
    const reason = new URLSearchParams(href.split('?')[1]?.replaceAll('&amp;', '&')).get('search');
    expect(textOf(part(page, 'summary'))).toContain(`${count} ${word} : ${reason}`);
    expect([...part(page, 'targets').matchAll(/<tr data-key/g)]).toHaveLength(Number(count));
  }
  expect(textOf(part(overview, 'attention'))).toMatch(/ 2 failed targets twice/);

  // Every run: its list, its bar, its reasons and its page say the same. Runs by status are those of the overview.
  const badges = new Map<string, number>();
  for (const id of ids) {
    const page = await read(`/runs/${id}`);
    const summary = part(page, 'summary');
    const own = countsIn(/aria-label="[^"]*have ended: ([^"]*)"/.exec(summary)?.[1] ?? '');
    const listed = runs.slice(runs.indexOf(`<tr data-key="${id}"`)).split('</tr>')[0] ?? '';
    expect(countsIn(/aria-label="[^"]*have ended: ([^"]*)"/.exec(listed)?.[1] ?? '')).toEqual(own);
    expect(countsIn(textOf(/<\/svg><p>([^<]*)/.exec(summary)?.[1] ?? ''))).toEqual(own);
    const filters = textOf(part(page, 'filters').split('</nav>')[0] ?? '').matchAll(
      /(succeeded|found|failed|skipped|cancelled) (\d+)/g,
    );
    expect(sum([...filters].map(([, , count]) => Number(count)))).toBe(sum(Object.values(own)));
    const status = /class="badge is-([\w-]+)"/.exec(summary)?.[1] ?? '';
    expect(/class="badge is-([\w-]+)"/.exec(listed)?.[1]).toBe(status);
    badges.set(status, (badges.get(status) ?? 0) + 1);
  }
  expect([...badges].sort()).toEqual(
    statuses.map(([count, word = '']) => [word, Number(count)] as const).sort(),
  );
  expect(badges.get('found')).toBeGreaterThan(0);
});
