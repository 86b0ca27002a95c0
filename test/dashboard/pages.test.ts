import { afterEach, expect, test } from 'vitest';
import type { Schedule } from '../../src/policy/policy.ts';
import { reasons } from '../../src/run/reasons.ts';
import { keepSecret } from '../../src/secrets.ts';
import { aPolicy, aRun, aTarget, ended, openEvents, remember, startWorld, type World } from './world.ts';

let world: World;
afterEach(() => world.stop());

/** The page as its reader sees it, and as it was sent. */
async function look(path: string): Promise<{ html: string; text: string; answer: Response }> {
  const ask = await world.signedIn();
  const answer = await ask(path, { headers: { accept: 'text/html' } });
  const html = await answer.text();
  return { answer, html, text: html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ') };
}

const aBrokenFile = {
  file: 'policies/a.yaml',
  mistakes: [
    {
      place: 'policies/a.yaml:3:5',
      message: 'There is no key "croon".',
      suggestion: 'did you mean cron?',
      frame: '> 3 | croon',
    },
  ],
  since: 1,
  inForce: ['nightly-sync'],
  kept: [{ name: 'nightly-sync', readAt: 1 }],
};

const pathOf = (id = aRun().id) => `/runs/${id}`;

test('the overview shows what is under way, what comes next and what was', async () => {
  const schedule: Schedule = {
    cron: ['0 2 * * *'],
    timezone: 'Europe/Berlin',
    jitterMs: 0,
    overlap: 'skip',
    catchupMs: 0,
    blackout: [],
  };
  world = await startWorld({
    policies: () => [
      aPolicy('nightly-sync', { schedule }),
      aPolicy('on-demand', { description: 'When somebody asks' }),
    ],
  });
  await remember(world.records, aRun(), [ended('a', 'succeeded'), aTarget('b')]);
  await world.records.policies.pause('on-demand', { at: 1, by: 'kim', reason: 'incident' });

  const { text, html } = await look('/');

  expect(text).toContain('nightly-sync running');
  expect(text).toContain('1 of 2: 1 succeeded');
  expect(text).toMatch(/0 2 \* \* \* .*Europe\/Berlin/);
  expect(text).toContain('paused by kim: incident');
  expect(text).toContain('Nobody is at work: runs wait until a daemon with the worker role starts');
  expect(html).toContain(`href="${pathOf()}"`);
});

test('whatever stands in the way is at the top of the overview', async () => {
  world = await startWorld({ policies: () => [aPolicy('nightly-sync')] });
  world.health.brokenFiles = [aBrokenFile];
  world.health.waiting = ['scheduler'];
  await world.records.accounts.block('default', { since: 1, why: 'HTTP 401' });

  const { text } = await look('/');

  expect(text).toContain(
    'The account default refuses us, and its runs wait: HTTP 401 Since 1970-01-01 00:00 UTC',
  );
  expect(text).toContain(
    'policies/a.yaml has a mistake; in force as it was before: nightly-sync (read 1970-01-01 00:00Z).',
  );
  expect(text).toContain('The scheduler of this process is not at work.');
});

test('a run says why it stands still, and of each target what became of it and why', async () => {
  world = await startWorld();
  await remember(world.records, aRun(), [
    ended('a', 'failed', { reason: 'task-failed', detail: 'Disk full.', taskId: 't-7', attempts: 2 }),
    aTarget('b'),
  ]);
  await world.records.runs.move(aRun(), 'blocked', { at: 1, detail: 'The account refuses us (HTTP 401).' });

  const { text } = await look(pathOf());

  expect(text).toContain('nightly-sync blocked');
  expect(text).toContain('The account refuses us (HTTP 401).');
  expect(text).toContain(
    `task-failed ${reasons['task-failed']} Disk full. after 2 failed tries task t-7 1 min 30 s`,
  );
  expect(text).toContain('b.example b pending');
});

test('targets come a hundred a page, and those that failed can be seen alone', async () => {
  world = await startWorld();
  const targets = Array.from({ length: 250 }, (_, index) =>
    ended(`s${index}`, index % 50 === 49 ? 'failed' : 'succeeded'),
  );
  await remember(world.records, aRun(), targets);
  const labels = async (query: string) => [
    ...(await look(pathOf() + query)).html.matchAll(/s\d+(?=\.example)/g),
  ];

  expect(await labels('')).toHaveLength(100);
  expect((await labels('?from=200')).map(String)).toEqual(
    Array.from({ length: 50 }, (_, index) => `s${index + 200}`),
  );
  expect((await labels('?outcome=failed')).map(String)).toEqual(['s49', 's99', 's149', 's199', 's249']);
  expect(await labels('?from=900')).toHaveLength(0);
});

test('what the service says is shown as text, never as part of the page', async () => {
  world = await startWorld();
  const evil = '<script>alert(1)</script><img src=x onerror="alert(2)">';
  await remember(world.records, aRun(), [ended('a', 'failed', { label: evil, detail: evil })]);
  await world.records.runs.move(aRun(), 'blocked', { at: 1, detail: evil });

  for (const path of ['/', pathOf()]) {
    const { html } = await look(path);
    expect(html).not.toContain('<script>');
    expect(html).not.toContain('<img');
    expect(html).toContain('&lt;script&gt;');
  }
});

test('a secret that slipped into a detail is not shown', async () => {
  world = await startWorld();
  keepSecret('tok_on_a_page');
  await remember(world.records, aRun(), [ended('a', 'failed', { detail: 'token tok_on_a_page' })]);
  await world.records.runs.move(aRun(), 'blocked', { at: 1, detail: 'with tok_on_a_page' });

  for (const path of ['/', pathOf()]) {
    const { html } = await look(path);
    expect(html).toContain('[hidden]');
    expect(html).not.toContain('tok_on_a_page');
  }
});

test('every answer tells the browser to load and run nothing from elsewhere, and to keep nothing', async () => {
  world = await startWorld();
  for (const path of ['/', '/sign-in', '/nowhere', '/healthz']) {
    const { headers } = (await look(path)).answer;
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
  }
});

test('pages carry no script or style of their own inside', async () => {
  world = await startWorld({ policies: () => [aPolicy('nightly-sync')] });
  await remember(world.records, aRun(), [ended('a', 'failed')]);
  for (const path of ['/', pathOf(), '/nowhere']) {
    const { html } = await look(path);
    expect(html).not.toMatch(/\sstyle=|<style|\son\w+=|<script(?! src="\/live\.js")/);
  }
});

test('a run that is not there is said to be gone, and so is a page', async () => {
  world = await startWorld();

  const run = await look('/runs/nothing');
  const page = await look('/nowhere');

  expect([run.answer.status, page.answer.status]).toEqual([404, 404]);
  expect(run.text).toContain('There is no such run, or it is older than what is kept.');
});

test('bull-board can be looked at, and nothing can be changed in it', async () => {
  world = await startWorld();
  const ask = await world.signedIn();
  const origin = world.dashboard.url;

  const page = await ask('/queues');
  const slash = await ask('/queues/');
  const { queues } = (await (await ask('/queues/api/queues')).json()) as { queues: { name: string }[] };
  const change = await ask('/queues/api/queues/plans/pause', { method: 'PUT', headers: { origin } });

  expect(page.status).toBe(200);
  expect(slash.headers.get('location')).toBe('/queues');
  expect(queues.map(({ name }) => name).sort()).toEqual(['actions', 'plans']);
  expect(change.status).toBe(405);
});

test('an open page is told which run changed', async () => {
  world = await startWorld();
  const ask = await world.signedIn();
  const events = await openEvents(ask);
  expect(await events.next()).toContain('event: hello');

  await world.records.runs.create(aRun(), { concurrency: 1, targetMs: 1 });
  await world.records.runs.move(aRun(), 'planning', { at: 1 });

  expect(await events.next()).toBe(
    `event: changed\ndata: {"runs":["${aRun().id}"],"policies":["nightly-sync"]}\n\n`,
  );
  await events.end();
});
