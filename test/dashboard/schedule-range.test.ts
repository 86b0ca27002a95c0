/** What runs between two times, and whether the budget suffices; schedule-range.long.test.ts chooses them by the mouse. */
import { afterEach, expect, test } from 'vitest';
import type { Policy } from '../../src/policy/policy.ts';
import { aSchedule } from '../support/builders.ts';
import { heldClock } from '../support/held-clock.ts';
import { aPolicy, aRun, ended, remember, rowsOf, startWorld, textOf, type World } from './world.ts';

let world: World;
afterEach(() => world?.stop());

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Tuesday, 24 November 2026, noon. */
const NOON = Date.UTC(2026, 10, 24, 12);
const at = (hour: number, minute = 0) => ({ schedule: aSchedule({ cron: [`${minute} ${hour} * * *`] }) });

async function startWith(policies: Policy[]) {
  world = await startWorld({
    clock: heldClock(NOON),
    policies: () => policies,
  });
}

async function ran(
  id: string,
  { name, hash }: Policy,
  began: number,
  ms: number,
  requests: number,
  more: object = {},
) {
  const times = { createdAt: began, scheduledFor: began };
  const run = aRun({ id, policy: name, policyHash: hash, ...times, requests, ...more });
  await remember(world.records, run, [ended('site', 'succeeded')]);
  await world.records.runs.move(run, 'running', { at: began });
  await world.records.runs.move(run, 'succeeded', { at: began + ms });
}

/** The sentence, and the policies and states of its runs. */
async function answerTo(query: string) {
  const { status, html } = await world.look(`/schedule?${query}`);
  expect(status).toBe(200);
  const [, part = ''] = /<section id="range"[^>]*>([\s\S]*?)<section id="day"/.exec(html) ?? [];
  return { html, sentence: textOf(part.split('</p>')[0] ?? '').trim(), runs: rowsOf(part, '</p>') };
}

test('of a time that is over it shows what really ran, also by hand, and what that spent', async () => {
  const [sync, check] = [aPolicy('sync', at(2)), aPolicy('check')];
  await startWith([sync, check]);
  await ran('sync.1', sync, NOON - 10 * HOUR, 12 * MINUTE, 300);
  await ran('check.1', check, NOON - 9 * HOUR, 2 * MINUTE, 5, { trigger: 'manual' });
  await ran('check.2', check, NOON - 7 * HOUR, 2 * MINUTE, 7, { trigger: 'manual' });

  const { sentence, runs, html } = await answerTo('from=2026-11-24+02:05&to=2026-11-24+04:00');

  expect(sentence).toBe('Tue 24 Nov 02:05 to 04:00: This time is over. 2 runs ran, with 305 requests.');
  expect(runs).toEqual([
    expect.stringMatching(/^02:00 sync .* succeeded 12 min 300/),
    expect.stringMatching(/^03:00 check manual .* succeeded 2 min 5/),
  ]);
  expect(html, 'the fields hold it').toContain('value="2026-11-24 02:05"');
  expect((await answerTo('from=2026-11-24T05:30&to=2026-11-24T06:00')).sentence).toContain('Nothing ran.');
});

test('of a time ahead it says whether the budget suffices, by the predictions of the page', async () => {
  const [sync, check] = [aPolicy('sync', at(20)), aPolicy('check', at(20, 10))];
  await startWith([sync, check, aPolicy('new', at(22))]);
  await ran('sync.1', sync, NOON - 16 * HOUR, 60 * MINUTE, 6_000);
  await ran('check.1', check, NOON - 15 * HOUR, 10 * MINUTE, 1_500);

  // 180 requests a minute can be spent. Of the run of an hour, a half is in this time.
  const half = await answerTo('from=2026-11-24T20:30&to=2026-11-24T21:30');
  expect(half.sentence).toContain(
    'The budget suffices: about 3,000 requests are predicted, and 10,800 can be spent.',
  );
  expect(half.runs).toEqual([expect.stringMatching(/^20:00 sync .* planned 1 h 6,000/)]);
  const both = await answerTo('from=2026-11-24T20:00&to=2026-11-24T22:00');
  expect(both.sentence).toContain('The budget suffices as a whole: about 7,500 requests');
  expect(both.sentence).toContain('But sync and check run at the same time on the account default');
  const short = await answerTo('from=2026-11-24T20:10&to=2026-11-24T20:20');
  expect(short.sentence).toContain(
    'The budget of default does not suffice: about 2,500 requests are predicted, and 1,800 can be spent.',
  );
  const unknown = await answerTo('from=2026-11-24T22:00&to=2026-11-24T23:00');
  expect(unknown.sentence).toContain('What new needs is not known.');
  const mixed = await answerTo('from=2026-11-23T20:00&to=2026-11-24T20:10');
  expect(mixed.sentence).toContain(
    '2 runs ran, with 7,500 requests. The budget suffices: about 1,000 requests',
  );
});

test('times are in the zone of the page, and what is no time is said', async () => {
  await startWith([aPolicy('sync', at(20))]);
  const berlin = await answerTo('from=2026-11-24T20:30&to=2026-11-24T21:30&zone=Europe/Berlin');
  expect(berlin.sentence).toContain('Tue 24 Nov 20:30 to 21:30');
  expect(berlin.runs).toEqual([expect.stringMatching(/^21:00 sync/)]);
  expect((await answerTo('from=2026-11-24T19:30Z&to=2026-11-24T20:30Z&zone=Europe/Berlin')).runs).toEqual(
    berlin.runs,
  );
  for (const query of ['from=2026-11-24T20:30', 'from=now&to=later', 'from=2026-11-24&to=2026-11-27'])
    expect((await answerTo(query)).sentence).toContain('Choose a time of at most a day');
});
