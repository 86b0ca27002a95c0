/** Freezes, pauses and blackouts on the page Schedule, and the forms by which people add and end freezes there. */
import { afterEach, expect, test } from 'vitest';
import { noteMaintenance } from '../../src/schedule/maintenance.ts';
import { aSchedule } from '../support/builders.ts';
import { heldClock } from '../support/held-clock.ts';
import { aPolicy, auditOf, startWorld, textOf, usersOf, type World } from './world.ts';

let world: World;
afterEach(() => world.stop());

const HOUR = 3_600_000;
/** Tuesday, 24 November 2026, noon. */
const NOON = Date.UTC(2026, 10, 24, 12);

/** The names of the bands, and the sentences below them. */
function closedIn(html: string) {
  const [, part = ''] = /<section id="week"[^>]*>([\s\S]*?)<ol class="week"/.exec(html) ?? [];
  return {
    bands: [...part.matchAll(/class="lane-name cut" data-key="[^"]*" title="[^"]*">([^<]*)</g)].map(
      ([, one]) => one,
    ),
    sentences: [...part.matchAll(/<li>([\s\S]*?)<\/li>/g)].map(([, one = '']) => textOf(one).trim()),
  };
}

const policies = [
  aPolicy('nightly-sync', { schedule: aSchedule({ blackout: [{ weekday: 'sunday' }] }) }),
  aPolicy('nightly-check', { schedule: aSchedule({ blackout: [{ weekday: 'sunday' }] }) }),
  aPolicy('report', { schedule: aSchedule() }),
];

/** A world as a person with these permissions sees it. */
async function startAs(grants: { role: 'operator' | 'viewer'; accounts?: string[] }) {
  world = await startWorld({
    clock: heldClock(NOON),
    policies: () => policies,
    access: () => usersOf({ olga: [grants] }),
    password: null,
  });
  const look = (path: string) => world.look(path, 'olga');
  return {
    look,
    page: async (query = '') => (await look(`/schedule${query}`)).html,
    send: (path: string, fields = {}) => world.press(path, fields, 'olga'),
  };
}

test('a week shows freezes of both kinds, pauses with an end and blackouts, with who and why', async () => {
  const { page } = await startAs({ role: 'operator' });
  const { freeze, policies: store } = world.records;
  await freeze.add({
    scope: { tag: 'Shop' },
    at: NOON + HOUR,
    by: 'anna',
    reason: 'a sale',
    until: NOON + 9 * HOUR,
  });
  const rule = { name: 'sundays', cron: ['0 0 * * sun'], timezone: 'UTC', forMs: 6 * HOUR };
  await noteMaintenance(world.records, [{ ...rule, scope: { client: 'Acme' } }], { now: () => NOON });
  await store.pause('report', { at: NOON - HOUR, by: 'ben', reason: 'a move', until: NOON + 48 * HOUR });
  await store.pause('nightly-sync', { at: NOON - HOUR, by: 'ben' });

  const { bands, sentences } = closedIn(await page());

  expect(bands).toEqual([
    'Freeze: the tag &quot;Shop&quot;',
    'Freeze: the client &quot;Acme&quot;',
    'Blackout: nightly-sync, nightly-check',
    'Pause: report',
  ]);
  expect(sentences[0]).toMatch(
    /^Tue 24 Nov 13:00 to Tue 24 Nov 21:00: .*frozen by anna from .*\(a sale\): new runs skip its targets End 1$/,
  );
  expect(sentences[1]).toMatch(
    /^Sun 29 Nov 00:00 .*maintenance sundays.*; again for 6 h from each &quot;0 0 \* \* sun&quot; \(UTC\) End sundays-/,
  );
  expect(sentences[2]).toContain('Blackout of nightly-sync, nightly-check: every sunday (UTC)');
  expect(sentences[3]).toMatch(/Pause of report: paused by ben from .*\(a move\)/);
  const later = closedIn(await page('?day=2026-12-20'));
  expect(later.bands, 'beyond what is recorded').toEqual([
    'Freeze: the client &quot;Acme&quot;',
    'Blackout: nightly-sync, nightly-check',
  ]);
});

test('an operator adds a freeze that recurs, and ends it, with the form of the page', async () => {
  const { look, page, send } = await startAs({ role: 'operator' });
  expect(await page()).toContain('href="/freezes/add"');
  expect((await look('/freezes/add')).html).toContain('name="cron"');

  const fields = {
    policy: 'nightly-*',
    cron: '0 22 * * fri',
    end: '2d',
    timezone: 'Europe/Berlin',
    reason: 'quiet',
  };
  const added = await send('/freezes/add', { ...fields, account: ' ', from: '' });
  expect(added.status).toBe(303);
  expect(added.headers.get('location')).toBe('/schedule');
  const { bands, sentences } = closedIn(await page());
  expect(bands).toContain('Freeze: the policy nightly-*');
  expect(sentences[0]).toMatch(
    /^Fri 27 Nov 21:00 to Sun 29 Nov 21:00: .*frozen by olga .*\(quiet\).* End 1$/,
  );

  expect((await send('/freezes/1/end')).status).toBe(303);
  expect(closedIn(await page()).bands).toEqual(['Blackout: nightly-sync, nightly-check']);
  const lines = (await auditOf(world)).filter(({ result }) => result === 'done');
  expect(lines.map(({ what, who, why }) => [what, who.name, why])).toEqual([
    ['freezes.begin', 'olga', 'quiet'],
    ['freezes.end', 'olga', undefined],
  ]);
});

test('a freeze that a form cannot mean is refused with what is wrong, and nothing is frozen', async () => {
  const { send } = await startAs({ role: 'operator' });
  for (const [fields, sentence] of [
    [{ cron: '0 22 * * fri', end: '2d' }, 'It needs an account, a policy, a job, a client or a tag'],
    [{ policy: 'nightyl-*', end: '2d' }, 'There is no policy'],
    [{ policy: 'report', end: 'soon' }, 'The end must be a time'],
    [{ policy: 'report', end: '2d', timezone: 'Europe/Berlin' }, 'needs `cron`'],
  ] as const) {
    const answer = await send('/freezes/add', fields);
    expect(answer.status).toBe(400);
    expect(answer.html).toContain(sentence);
    // What was typed is still there.
    expect(answer.html).toContain(`value="${fields.end}"`);
  }
  expect((await send('/freezes/4711/end')).status).toBe(404);
  expect(await world.records.freeze.parts()).toEqual([]);
});

test('who may not freeze has no form and no button, and is refused; a limited operator freezes its account only', async () => {
  const viewer = await startAs({ role: 'viewer' });
  await world.records.freeze.add({ scope: { job: 'site-sync' }, at: NOON, by: 'anna', until: NOON + HOUR });
  const html = await viewer.page();
  expect(closedIn(html).bands).toContain('Freeze: the job site-sync');
  expect(html).not.toMatch(/href="\/freezes\//);
  expect((await viewer.send('/freezes/add', { policy: 'report', end: '2d' })).status).toBe(403);
  expect((await viewer.send('/freezes/1/end')).status).toBe(403);
  await world.stop();

  const limited = await startAs({ role: 'operator', accounts: ['default'] });
  expect((await limited.send('/freezes/add', { policy: 'report', end: '2d' })).status).toBe(403);
  expect((await limited.send('/freezes/add', { account: 'default', end: '2d' })).status).toBe(303);
  expect(await world.records.freeze.parts()).toHaveLength(1);
});
