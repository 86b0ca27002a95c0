import { afterEach, expect, test } from 'vitest';
import { coreReasons } from '../../src/run/reasons.ts';
import { keepSecret } from '../../src/secrets.ts';
import { aSchedule, aTarget } from '../support/builders.ts';
import { heldClock } from '../support/held-clock.ts';
import { aBrokenFile as brokenFileOf } from './busy-world.ts';
import {
  anAccount,
  aPolicy,
  aRun,
  ended,
  PASSWORD,
  remember,
  showDaemon,
  startWorld,
  textOf,
  type World,
} from './world.ts';

let world: World;
afterEach(() => world.stop());

const look = (path: string) => world.look(path);

const aBrokenFile = {
  file: 'policies/a.yaml',
  errors: [
    {
      place: 'policies/a.yaml:3:5',
      message: 'There is no key "croon".',
      suggestion: 'did you mean cron?',
      frame: '> 3 | croon',
    },
  ],
  since: 1,
  active: ['nightly-sync'],
  kept: [{ name: 'nightly-sync', readAt: 1 }],
};

const pathOf = (id = aRun().id) => `/runs/${id}`;

test('the overview shows active, upcoming and past runs', async () => {
  const schedule = aSchedule({ cron: ['0 2 * * *'], timezone: 'Europe/Berlin' });
  world = await startWorld({
    policies: () => [
      aPolicy('nightly-sync', { schedule }),
      // The paused one is on the second page of the policies.
      ...Array.from({ length: 60 }, (_, index) => aPolicy(`a-policy-${index}`)),
      aPolicy('on-demand', { description: 'When somebody asks' }),
    ],
  });
  await remember(world.records, aRun(), [ended('a', 'succeeded'), aTarget('b')]);
  await world.records.policies.pause('on-demand', {
    at: Date.now() - 3_600_000,
    by: 'kim',
    reason: 'incident',
  });

  const { text, html } = await look('/');

  expect(text).toContain('nightly-sync running');
  expect(text).toContain('1 of 2: 1 succeeded');
  expect(text).toMatch(/paused on-demand paused by kim: incident .*1 h ago .*Resume on-demand/);
  expect(text).toContain('No worker is running: runs wait until a daemon with the worker role starts');
  expect(html).toContain(`href="${pathOf()}"`);
  expect(html).toContain('href="/policies/on-demand/resume"');
});

test('every page shows a freeze with its author, its end and its reason', async () => {
  const now = Date.now();
  world = await startWorld({ policies: () => [aPolicy('nightly-sync')] });
  await world.records.freeze.begin({ at: now, by: 'anna', reason: 'the <big> sale', until: now + 3_600_000 });

  for (const path of ['/', '/runs', '/system', '/policies/nightly-sync'])
    expect((await look(path)).html).toMatch(
      /Everything is frozen by anna until <time datetime="[^"]+Z">\S+ \S+ UTC<\/time> \(the &lt;big&gt; sale\): no run starts\./,
    );

  await world.records.freeze.end(now);
  expect((await look('/')).html).not.toContain('frozen');
});

test('a policy whose schedule is disabled shows no next time on any page', async () => {
  const schedule = aSchedule({ disabled: true });
  world = await startWorld({ policies: () => [aPolicy('switched-off', { schedule })] });
  const never = 'never: its file disables the schedule ( schedule.enabled: false )';

  for (const path of ['/policies', '/policies/switched-off']) {
    const { text, html } = await look(path);
    expect(text).toMatch(/switched-off .* disabled/);
    expect(html.slice(html.indexOf('<main'))).not.toContain('<time');
  }
  expect((await look('/policies/switched-off')).text).toContain(never);
  expect((await look('/')).text).toContain('Nothing is scheduled.');
  await world.records.policies.pause('switched-off', { at: 1, by: 'kim' });
  expect((await look('/policies/switched-off')).text).toContain(never);
  expect((await look('/policies/switched-off/resume')).text).toContain('It still has no scheduled runs');
  const bearer = { headers: { authorization: `Bearer ${PASSWORD}` } };
  expect(await (await world.ask('/api/v1/policies/switched-off', bearer)).json()).toMatchObject({
    enabled: false,
    next: null,
  });
});

test('the overview shows everything that blocks runs', async () => {
  world = await startWorld({ policies: () => [aPolicy('nightly-sync')] });
  world.health.brokenFiles = [aBrokenFile];
  world.health.moved = [{ account: 'default', sentence: 'The records belong to https://a.example.' }];
  world.health.waiting = ['scheduler'];
  world.health.differences = ['the policy nightly-sync differs between daemons: no scheduler has it'];
  await world.records.accounts.block('default', { since: 1, why: 'HTTP 401' });

  const { text } = await look('/');

  expect(text).toContain(
    'The account default refused access, and no run is active that asks again: HTTP 401 Since 1970-01-01 00:00 UTC',
  );
  expect(text).toContain(
    'policies/a.yaml has an error; active as before: nightly-sync (read 1970-01-01 00:00 UTC ).',
  );
  // On every page, and under Needs attention.
  expect(text.split('The records belong to https://a.example.')).toHaveLength(3);
  expect(text).toMatch(/Needs attention .* another address default The records belong/);
  expect(text).toContain('The scheduler of this process is not running.');
  expect(text).toContain('The policy nightly-sync differs between daemons: no scheduler has it.');
});

test('a run shows what blocks it, and the outcome and reason of each target', async () => {
  world = await startWorld();
  await remember(world.records, aRun(), [
    ended('a', 'failed', { reason: 'task-failed', detail: 'Disk full.', taskId: 't-7', attempts: 2 }),
    aTarget('b'),
  ]);
  await world.records.runs.move(aRun(), 'blocked', { at: 1, detail: 'The account refuses us (HTTP 401).' });

  const { text } = await look(pathOf());

  expect(text).toContain('nightly-sync blocked');
  expect(text).toContain('The account refuses us (HTTP 401).');
  expect(text).toContain(`task-failed ${coreReasons['task-failed'].text} Disk full. task t-7 3 1 min 30 s`);
  expect(text).toContain('b.example b pending');
});

test('a run whose failures need a fix before a retry shows that next to the retry button', async () => {
  world = await startWorld();
  await remember(world.records, aRun(), [ended('a', 'failed', { reason: 'undelivered' })]);
  await world.records.runs.move(aRun(), 'failed', { at: 1 });
  expect((await look(pathOf())).text).toContain('Retry when the cause is fixed');

  const other = aRun({ id: 'nightly-sync.2' });
  await remember(world.records, other, [ended('a', 'failed', { reason: 'timeout' })]);
  await world.records.runs.move(other, 'failed', { at: 1 });
  expect((await look('/runs/nightly-sync.2')).text).toContain('Retry what failed');
});

test('a run shows the findings of its targets, the most severe first, and collapses those of severity info', async () => {
  world = await startWorld();
  const findings = [
    { severity: 'info' as const, about: 'a.example', message: 'Updated: Shop 9.1.0 → 9.2.0.' },
    { severity: 'error' as const, about: '<b>b.example</b>', message: 'Failed at check: Disk full.' },
    { severity: 'error' as const, about: 'detail', message: 'Said already.' },
  ];
  await remember(world.records, aRun(), [ended('a', 'failed', { detail: 'Said already.', findings })]);

  const { text, html } = await look(pathOf());

  expect(text).toContain(
    'error &lt;b&gt;b.example&lt;/b&gt;: Failed at check: Disk full. 1 more line a.example: Updated: Shop',
  );
  expect(html.match(/Said already/g)).toHaveLength(1);
});

test('a target shows its first five of a hundred findings, and collapses the others', async () => {
  world = await startWorld();
  const findings = Array.from({ length: 100 }, (_, at) => ({
    severity: 'error' as const,
    about: `plugin-${at}`,
    message: 'Not updated.',
  }));
  await remember(world.records, aRun(), [ended('a', 'failed', { findings })]);

  const [shown = '', folded = ''] = (await look(pathOf())).html.split('<summary>95 more lines</summary>');

  expect(shown.match(/Not updated/g)).toHaveLength(5);
  expect(folded.match(/Not updated/g)).toHaveLength(95);
});

test('a run can be force-ended when no process works on it, or when it is already cancelled', async () => {
  world = await startWorld();
  await remember(world.records, aRun(), [aTarget('a')]);
  const offers = async () =>
    [...(await look(pathOf())).html.matchAll(/>(Cancel this run|Force-end this run)</g)].map(
      ([, word]) => word,
    );

  expect(await offers()).toEqual(['Cancel this run', 'Force-end this run']);
  await showDaemon(world.records, ['worker']);
  expect(await offers()).toEqual(['Cancel this run']);
  await world.records.runs.end(aRun(), 'cancelled', 'By hand.');
  expect(await offers()).toEqual(['Force-end this run']);
});

test('a page has a hundred targets, and failed targets can be shown alone', async () => {
  world = await startWorld();
  const targets = Array.from({ length: 250 }, (_, index) =>
    ended(`s${index}`, index % 50 === 49 ? 'failed' : 'succeeded'),
  );
  await remember(world.records, aRun(), targets);
  const labels = async (query: string) => [
    ...(await look(pathOf() + query)).html.matchAll(/s\d+(?=\.example<)/g),
  ];

  expect(await labels('')).toHaveLength(100);
  expect((await labels('?from=200')).map(String)).toEqual(
    Array.from({ length: 50 }, (_, index) => `s${index + 200}`),
  );
  expect((await labels('?outcome=failed')).map(String)).toEqual(['s49', 's99', 's149', 's199', 's249']);
  expect(await labels('?from=900')).toHaveLength(0);
});

test('targets can be searched by all their fields, and the length of a search is limited', async () => {
  world = await startWorld();
  const targets = Array.from({ length: 5_200 }, (_, index) =>
    index % 2_500 === 100 ? ended(`s${index}`, 'failed', { detail: 'Disk FULL.' }) : aTarget(`s${index}`),
  );
  await remember(world.records, aRun(), targets);
  const found = async (query: string) => {
    const { html, text } = await look(pathOf() + query);
    return { ids: [...html.matchAll(/s\d+(?=\.example<)/g)].map(String), text, html };
  };

  expect((await found('?search=s5100')).ids).toEqual([]);
  expect((await found('?search=s5100')).html).toContain('search=s5100&amp;from=5000');
  expect((await found('?search=s5100&from=5000')).ids).toEqual(['s5100']);
  expect((await found('?search=disk+full&outcome=failed')).ids).toEqual(['s100', 's2600']);
  expect((await found('?search=rejected&from=101')).ids).toEqual(['s2600', 's5100']);
  expect((await found('?search=nowhere&from=5000')).text).toContain('No target of this run matches.');
});

test('candidates that the plan excluded are all counted, and the first hundred are listed', async () => {
  world = await startWorld();
  const run = aRun();
  await world.records.runs.create(run, { concurrency: 1, targetMs: 1 });
  await world.records.runs.move(run, 'planning', { at: 1 });
  const step = await world.records.plans.begin(run.id);
  const leftOut = Array.from({ length: 230 }, (_, index) => ({
    id: `x${index}`,
    label: 'x',
    why: 'Its tag.',
  }));
  await world.records.plans.add(run.id, step, [], { excluded: leftOut });

  const { text, html } = await look(pathOf());

  expect(text).toContain('Excluded from the plan (230, the first 100 here)');
  expect(html.match(/Its tag\./g)).toHaveLength(100);
});

test('a target links to its outcomes in its latest runs', async () => {
  world = await startWorld();
  const runs = [aRun({ id: 'one', createdAt: 1 }), aRun({ id: 'two', createdAt: 2, policy: 'weekly' })];
  for (const run of runs) {
    await remember(world.records, run, [
      aTarget('site/1'),
      ended('left', 'skipped', { reason: 'not-eligible' }),
    ]);
    const target = aTarget('site/1', { state: 'ended', outcome: 'failed', reason: 'timeout' });
    await world.records.targets.move(
      run,
      { ...target, detail: `In ${run.id}.` },
      { from: ['pending'], at: run.createdAt },
    );
  }

  const { text } = await look('/targets/default/site%2F1');
  expect(text).toMatch(/weekly failed timeout .* In two\. .* nightly-sync failed timeout .* In one\./);

  const { html } = await look(pathOf('two'));
  const link = /href="(\/targets\/default\/left[^"]*)"/.exec(html)?.[1] ?? '';
  expect((await look(link)).text).toContain(coreReasons['not-eligible'].text);
  expect((await look('/targets/default/nobody')).status).toBe(404);
});

test('the overview shows which targets failed, why, and which were skipped', async () => {
  world = await startWorld();
  const now = Date.now();
  const night = aRun({ id: 'night', createdAt: now - 8 * 3_600_000 });
  await remember(world.records, night, [
    ended('a', 'succeeded'),
    ended('b', 'failed', { reason: 'task-failed' }),
    ended('c', 'failed', { reason: 'task-failed' }),
    ended('d', 'skipped', { reason: 'daily-limit' }),
    ended('e', 'skipped', { reason: 'already-done' }),
  ]);
  await world.records.runs.move(night, 'partial', { at: now });
  await world.records.runs.create(
    aRun({
      id: 'late',
      policy: 'weekly',
      status: 'skipped',
      createdAt: now,
      detail: 'Another run was under way.',
    }),
    { concurrency: 1, targetMs: 1 },
  );
  const old = aRun({ id: 'old', createdAt: now - 25 * 3_600_000 });
  await remember(world.records, old, [ended('a', 'failed', { reason: 'timeout' })]);
  await world.records.runs.move(old, 'failed', { at: now - 25 * 3_600_000 });

  const { html, main: page } = await look('/');

  expect(page).toContain(
    '24 hours 2 1 partial, 1 skipped Targets that failed 2 of 5: 1 succeeded, 2 failed, 2 skipped',
  );
  expect(page).toMatch(/2 failed targets nightly-sync task failed: 2 of 5 1 d ago 2 Retry nightly-sync/);
  expect(page).toContain('1 skipped, daily-limit : nightly-sync');
  expect(page).not.toContain('timeout');
  expect(page).not.toContain('All is well');
  expect(html).toContain('href="/runs/night?outcome=failed&amp;search=task-failed"');
  expect(html).toContain('href="/runs/night/retry"');
});

test('a failure after which a run of the policy succeeded is at the end, without a retry', async () => {
  world = await startWorld();
  const now = Date.now();
  for (const [id, policy, outcome] of [
    ['sync.1', 'sync', 'failed'],
    ['sync.2', 'sync', 'succeeded'],
    ['mail.1', 'mail', 'failed'],
    // A run that skips all of its targets shows no recovery.
    ['mail.2', 'mail', 'skipped'],
  ] as const) {
    const run = aRun({ id, policy, createdAt: now + Number(id.at(-1)) });
    const reason = outcome === 'failed' ? { reason: 'task-failed' as const } : {};
    await remember(world.records, run, [ended('a', outcome, reason)]);
    await world.records.runs.move(run, outcome === 'skipped' ? 'succeeded' : outcome, { at: now });
  }

  const { html } = await look('/');
  const text = textOf(html.slice(html.indexOf('id="attention"'), html.indexOf('id="active"')));

  expect(text).toMatch(
    /1 failed target mail .* Retry mail 1 failed target sync A later run succeeded; task failed: 1 of 1/,
  );
  expect(text).not.toContain('Retry sync');
});

test('when nothing failed and nothing waits, the overview says so in one line, and that all is well only where it is', async () => {
  world = await startWorld();
  await remember(world.records, aRun({ createdAt: Date.now() }), [ended('a', 'succeeded')]);
  await world.records.runs.move(aRun(), 'succeeded', { at: Date.now() });
  const { text } = await look('/');
  expect(text).not.toContain('All is well');
  expect(text).toContain('There are 2 notices. Nothing failed in the last 24 hours');

  await showDaemon(world.records, ['scheduler', 'worker']);
  const { html, text: well } = await look('/');
  expect(well).toContain('All is well: nothing failed in the last 24 hours');
  const status = html.slice(html.indexOf('id="status"'), html.indexOf('id="notices"'));
  expect(textOf(status)).toContain('No notices');
});

test('policies are listed with schedule, last runs and next time, filtered and sorted by the address', async () => {
  const at = (cron: string) => aSchedule({ cron: [cron], timezone: 'Europe/Berlin' });
  world = await startWorld({
    clock: heldClock(),
    policies: () => [
      aPolicy('alpha', { schedule: at('0 2 * * *') }),
      aPolicy('beta', { schedule: at('*/5 * * * *'), description: 'Looks after <b>shops</b>' }),
      aPolicy('gamma'),
    ],
  });
  for (const [index, status] of (['succeeded', 'failed', 'succeeded', 'succeeded'] as const).entries()) {
    const run = aRun({ id: `beta.${index}`, policy: 'beta', createdAt: 1 + index });
    await remember(world.records, run, [ended('a', status)]);
    await world.records.runs.move(run, status, { at: 100 });
  }
  const names = (html: string) =>
    [...html.matchAll(/class="strong" href="\/policies\/(\w+)"/g)].map(([, name]) => name);

  const { html, text } = await look('/policies');
  expect(names(html)).toEqual(['alpha', 'beta', 'gamma']);
  expect(text).toContain('at 02:00, every day, Berlin');
  expect(text).toMatch(/beta Looks after &lt;b&gt;shops&lt;\/b&gt; every 5 minutes, Berlin .* 75% succeeded/);
  expect(html).toContain('aria-label="The last 4 runs: 3 succeeded, 1 failed"');
  expect(names((await look('/policies?sort=next')).html)).toEqual(['beta', 'alpha', 'gamma']);
  expect(names((await look('/policies?dir=down')).html)).toEqual(['gamma', 'beta', 'alpha']);

  const found = await look('/policies?q=shops');
  expect(names(found.html)).toEqual(['beta']);
  expect(found.text).toContain('1 of 3 policies');
  expect(found.text).toMatch(/Text: shops remove this filter/);
  expect(names((await look('/policies?state=manual')).html)).toEqual(['gamma']);
  expect((await look('/policies?q=nothing')).text).toContain('No policy matches. Show all 3');
});

test('a run without any success shows the reason first', async () => {
  world = await startWorld();
  const skipped = aRun({ id: 'skipped', status: 'skipped', detail: 'The run x was still under way.' });
  await world.records.runs.create(skipped, { concurrency: 1, targetMs: 1 });
  const failed = aRun({ id: 'failed' });
  await remember(world.records, failed, [ended('a', 'failed', { reason: 'rejected' })]);
  await world.records.runs.move(failed, 'failed', { at: 1 });

  expect((await look(pathOf('skipped'))).text).toMatch(/skipped The run x was still under way\. no targets/);
  expect((await look(pathOf('failed'))).text).toMatch(
    /failed Nothing succeeded: 1 of 1 targets failed\. 1 failed : rejected The service refused/,
  );
  expect((await look('/runs')).text).not.toContain('nothing yet');
});

test('every page shows which roles are not running, and which service does not respond', async () => {
  const failing = anAccount({ failingSince: Date.now() - 60_000 });
  world = await startWorld({ policies: () => [aPolicy('nightly-sync')], accounts: async () => [failing] });
  await remember(world.records, aRun(), [aTarget('a')]);

  for (const path of [
    '/',
    '/runs',
    pathOf(),
    '/system',
    '/policies/nightly-sync',
    '/policies/nightly-sync/run',
  ]) {
    const { text } = await look(path);
    expect(text).toContain('No worker is running: runs wait until a daemon with the worker role starts');
    expect(text).toContain('No scheduler is running: policies do not run on schedule');
    expect(text).toContain('The service does not respond for the account default');
  }

  await showDaemon(world.records, ['worker', 'scheduler']);
  await world.records.accounts.noteSupervised('default', Date.now() - 40_000);
  const { text } = await look('/system');
  expect(text).not.toContain('No worker is running');
  expect(text).toContain('The runs of the account default have no supervisor');
  expect(text).toMatch(/night-shift process 7 worker, scheduler/);
  expect(text).toMatch(/no answer since .* 150 of 200 requests left 1 none/);
});

test('a line of the audit log without a result says that the act may have happened', async () => {
  world = await startWorld();
  const who = { kind: 'token', name: 'ci' } as const;
  const line = {
    act: '5f0c',
    at: Date.now(),
    result: 'requested',
    who,
    from: '192.0.2.7',
    what: 'runs.cancel',
  } as const;
  await world.records.audit.append(line, 86_400_000);
  expect((await look('/audit')).html).toContain('its process died and it may have happened');
});

test('text from the service is shown as text, never as part of the page', async () => {
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

test('a secret in a message is not shown', async () => {
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

test('every response forbids the browser to load or run anything from elsewhere, and to store anything, and no page has inline scripts or styles', async () => {
  world = await startWorld();
  await remember(world.records, aRun(), [ended('a', 'failed')]);
  for (const path of ['/', '/sign-in', '/nowhere', '/healthz']) {
    const { headers } = await look(path);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
  }
  for (const path of ['/', pathOf(), '/nowhere'])
    expect((await look(path)).html).not.toMatch(
      /\sstyle=|<style|\son\w+=|<script(?! type="module" src="\/client\/[0-9a-f]{16}\/live\.js")/,
    );
});

test('an invalid file of forty policies takes one line of the notices, and its errors can be expanded', async () => {
  world = await startWorld({ policies: () => [aPolicy('nightly-sync')] });
  world.health.brokenFiles = [brokenFileOf(40)];

  for (const path of ['/', '/runs', '/system']) {
    const { html } = await look(path);
    const [, line = ''] =
      /<p class="sentence">((?:(?!<details>).)*has 40 errors.*?)<details>/s.exec(html) ?? [];
    expect(textOf(line)).toMatch(/has 40 errors; 40 policies of it stay active as they were before\. Since/);
    expect(line).not.toContain('policy-number');
    const opened = textOf(html.slice(html.indexOf('id="warnings"')));
    expect(opened).toContain('in policy-number-0-of-one-file.');
    expect(opened).toContain('And 20 more: caretaker validate shows all.');
    expect(opened).toMatch(/policy-number-39-of-one-file, read \d{4}-/);
  }
});

test('the status of every page has the number of notices and the worst of them', async () => {
  const accounts = Array.from({ length: 9 }, (_, index) =>
    anAccount({ account: `client-${index}`, failingSince: Date.now() - 60_000 }),
  );
  world = await startWorld({ accounts: async () => accounts });
  world.health.brokenFiles = [brokenFileOf(1)];

  const { html } = await look('/');

  const [, title, status = ''] =
    /<button[^>]*class="pill is-failed"[^>]*title="([^"]*)">(.*?)<\/button>/s.exec(html) ?? [];
  expect(title).toMatch(/^No worker is running/);
  expect(textOf(status)).toContain('12 notices');
  const notices = textOf(html.slice(html.indexOf('id="warnings"'), html.indexOf('<main')));
  expect(notices).toMatch(/No worker is running.*No scheduler is running.*client-0.*client-8.*has an error/);
});

test('the sidebar counts active runs and those that wait for an approval, and marks the page', async () => {
  world = await startWorld();
  await remember(world.records, aRun(), []);
  await world.records.runs.create(aRun({ id: 'asks', status: 'awaiting-approval' }), {
    concurrency: 1,
    targetMs: 1,
  });

  const { html } = await look('/runs');

  const sidebar = html.slice(html.indexOf('id="sidebar"'), html.indexOf('<header'));
  expect(textOf(sidebar)).toMatch(/Runs 2 active Findings Approvals 1 waiting for a decision/);
  expect(sidebar.match(/<a href="([^"]+)"[^>]*aria-current="page"/)?.[1]).toBe('/runs');
});
