/** What an open page receives: only what changed on it, and nothing that its reader may not see. */
import { afterEach, expect, test } from 'vitest';
import type { Grant } from '../../../src/access/principal.ts';
import { applyDelta } from '../../../src/dashboard/client/page-text.ts';
import type { Run } from '../../../src/run/run.ts';
import { aTarget } from '../../support/builders.ts';
import { fastClock } from '../../support/caretaker.ts';
import { findIn } from '../../support/findings.ts';
import { workedOn } from '../../support/worked-on.ts';
import {
  type Ask,
  anAccount,
  aPolicy,
  aRun,
  ended,
  openEvents,
  postForm,
  remember,
  rowsOf,
  startWorld as startAnyWorld,
  usersOf,
  type World,
} from '../world.ts';

let world: World;
afterEach(() => world.stop());

/** A page is made once a second; on this clock, that is soon. */
const startWorld: typeof startAnyWorld = (changes) =>
  startAnyWorld({ clock: fastClock(50, Date.now()), ...changes });

/** A page that is open in a browser: its text after each message. */
async function openPage(ask: Ask, path: string) {
  const page = await (await ask(path)).text();
  const since = /data-now="(\d+)"/.exec(page)?.[1] ?? '';
  const events = await openEvents(ask, `/events?${new URLSearchParams({ page: path, since })}`);
  // The first page may arrive together with the greeting.
  let rest = await events.next();
  expect(rest).toMatch(/^event: hello\n/);
  while (!rest.includes('\n\n')) rest += await events.next();
  rest = rest.slice(rest.indexOf('\n\n') + 2);
  let parts: string[] = [];
  const messages: string[] = [];
  return {
    page,
    messages,
    /** The text after the next message. */
    async next(): Promise<string> {
      while (!rest.includes('\n\n')) rest += await events.next();
      const end = rest.indexOf('\n\n') + 2;
      const message = rest.slice(0, end);
      rest = rest.slice(end);
      if (message.startsWith('event: pulse\n')) return this.next();
      messages.push(message);
      parts = applyDelta(parts, JSON.parse(/^event: page\ndata: (.*)\n\n$/.exec(message)?.[1] ?? 'null'));
      return parts.join('');
    },
    /** The text once it contains this. */
    async until(text: string): Promise<string> {
      for (;;) {
        const now = await this.next();
        if (now.includes(text)) return now;
      }
    },
    end: events.end,
  };
}

const endOne = async (run: Run): Promise<void> => {
  const [dispatched] = await world.records.targets.dispatch(run.id, Date.now(), 1);
  const claimed = dispatched && (await world.records.targets.claim(run, dispatched, Date.now()));
  if (!claimed) throw new Error('A target was left.');
  const { fence, id } = claimed.target;
  await world.records.targets.move(run, ended(id, 'succeeded', { fence }), {
    from: ['acting'],
    at: Date.now(),
  });
};

/** Follows addresses. Returns what was sent by the time that it is called. */
async function listenAt(ask: Ask, paths: readonly string[]): Promise<() => Promise<string>> {
  const streams = await Promise.all(
    paths.map((path) => openEvents(ask, `/events?${new URLSearchParams({ page: path })}`)),
  );
  let heard = '';
  const listening = streams.map(async ({ next }) => {
    for (let text = await next(); text !== ''; text = await next()) heard += text;
  });
  return async () => {
    await Promise.all([...streams.map(({ end }) => end()), ...listening]);
    return heard;
  };
}

const targets = (name: string) => Array.from({ length: 5 }, (_, at) => aTarget(`${name}-${at}`));

test('the first message is the page as it is now, and the next ones only what changed on it', async () => {
  world = await startWorld();
  // A month old, so that their times stay as they are, however slow the machine is.
  const before = Date.now() - 30 * 86_400_000;
  const runs = Array.from({ length: 20 }, (_, at) => aRun({ id: `run-${at}`, createdAt: before - at }));
  for (const run of runs) await remember(world.records, run, targets(run.id));
  const reader = await openPage(await world.signedIn(), '/runs');

  await endOne(runs[3] ?? aRun());
  await reader.until('1 succeeded');
  await endOne(runs[3] ?? aRun());
  await reader.until('2 succeeded');

  const [whole = ''] = reader.messages;
  const changed = reader.messages.at(-1) ?? '';
  expect(whole.length).toBeGreaterThan(5_000);
  expect(changed.length).toBeLessThan(1_500);
  expect(changed).not.toContain('run-4');
  await reader.end();
});

test('readers with the same permissions are sent the same, without the name of any of them', async () => {
  const grants: Grant[] = [{ role: 'viewer' }];
  world = await startWorld({ access: () => usersOf({ ana: grants, ben: grants }) });
  await remember(world.records, aRun(), targets('site'));
  const [ana, ben] = [
    await openPage(await world.signedIn('ana'), '/'),
    await openPage(await world.signedIn('ben'), '/'),
  ];

  await endOne(aRun());

  expect(await ana.until('1 succeeded')).toBe(await ben.until('1 succeeded'));
  expect(ana.page).toContain('Signed in as ana');
  expect(ana.messages.join('') + ben.messages.join('')).not.toMatch(/Signed in as (?:ana|ben)/);
  await Promise.all([ana.end(), ben.end()]);
});

test('an open page learns that Redis does not answer, and ends with the session', async () => {
  world = await startAnyWorld();
  const ask = await world.signedIn();
  const events = await openEvents(ask, '/events');
  const until = async (pulse: string) => {
    for (let heard = ''; !heard.includes(pulse); heard = await events.next());
  };

  await until('event: pulse\ndata: \n');
  await world.redis.kill();
  await until('event: pulse\ndata: redis\n');
  await world.redis.restart();
  await until('event: pulse\ndata: \n');
  await postForm(ask, world.dashboard.url, '/sign-out');
  for (let heard = '-'; heard !== ''; heard = await events.next());

  expect((await ask('/events')).status).toBe(401);
});

test('a reader with limits receives nothing of other accounts and policies, not even that something changed', async () => {
  const ana: Grant[] = [{ role: 'viewer', policies: ['inside'] }];
  world = await startWorld({
    access: () => usersOf({ ana, ben: [{ role: 'viewer' }] }),
    policies: () => [aPolicy('inside'), aPolicy('outside', { account: 'second' })],
    accounts: async () => [anAccount(), anAccount({ account: 'second' })],
  });
  const inside = aRun({ id: 'inside.1', policy: 'inside', createdAt: Date.now() });
  const outside = aRun({ id: 'outside.1', policy: 'outside', account: 'second', createdAt: Date.now() });
  await remember(world.records, inside, targets('ours'));
  await remember(world.records, outside, targets('theirs'));
  const limited = await openPage(await world.signedIn('ana'), '/runs');
  const whole = await openPage(await world.signedIn('ben'), '/runs');
  // What was missed between the page and its stream.
  await limited.next();

  await endOne(outside);
  expect(await whole.until('1 succeeded')).toContain('outside');
  await endOne(outside);
  await whole.until('2 succeeded');
  expect(limited.messages).toHaveLength(1);
  await endOne(inside);
  await limited.until('1 succeeded');

  expect(limited.page + limited.messages.join('')).not.toMatch(/outside|theirs|second/);
  await Promise.all([limited.end(), whole.end()]);
});

test('the page of a run that a reader may not see is not followed either', async () => {
  const ana: Grant[] = [{ role: 'viewer', policies: ['inside'] }];
  world = await startWorld({ access: () => usersOf({ ana }), policies: () => [aPolicy('inside')] });
  const outside = aRun({ id: 'outside.1', policy: 'outside', createdAt: Date.now() });
  const inside = aRun({ id: 'inside.1', policy: 'inside', createdAt: Date.now() });
  for (const run of [outside, inside]) await remember(world.records, run, targets(run.policy));
  const ask = await world.signedIn('ana');
  const heard = await listenAt(ask, [`/runs/${outside.id}`]);
  const own = await openPage(ask, `/runs/${inside.id}`);

  await endOne(outside);
  await endOne(inside);
  await own.until('1 succeeded');

  expect(await heard()).not.toContain('event: page');
  await own.end();
});

test('no address but that of a page can be followed', async () => {
  world = await startWorld();
  await remember(world.records, aRun(), targets('site'));
  const ask = await world.signedIn();
  const own = await openPage(ask, '/runs');
  const others = ['/metrics', '/api/v1/runs', '/client/x/style.css', '/events?page=/'];
  const heard = await listenAt(ask, others);

  await endOne(aRun());
  await own.until('1 succeeded');
  await endOne(aRun());
  await own.until('2 succeeded');

  expect(await heard()).not.toContain('event: page');
  await own.end();
});

test('what a run finds and does appears on the open lists of findings and sites, and what it resolves leaves', async () => {
  world = await startWorld({ policies: () => [aPolicy('stale-backups')] });
  const { records } = world;
  await findIn(records, { at: Date.now(), found: [{ target: 'a' }, { target: 'b' }] });
  await workedOn(records, aRun({ id: 'first', createdAt: Date.now() }), [ended('a', 'succeeded')]);
  const ask = await world.signedIn();
  const [findings, sites] = [await openPage(ask, '/findings'), await openPage(ask, '/sites')];

  await findIn(records, { at: Date.now(), found: [{ target: 'a' }, { target: 'c' }] });
  const found = await findings.until('c.example');
  expect(found).toContain('a.example');
  expect(found).not.toContain('b.example');
  await workedOn(records, aRun({ id: 'second', createdAt: Date.now() + 1_000 }), [
    ended('a', 'failed'),
    ended('b', 'succeeded'),
  ]);
  const rows = rowsOf(await sites.until('b.example'), 'id="sites"');

  expect(rows).toEqual([
    expect.stringMatching(/^a\.example .* failed /),
    expect.stringMatching(/^b\.example .* succeeded /),
  ]);
  await Promise.all([findings.end(), sites.end()]);
});
