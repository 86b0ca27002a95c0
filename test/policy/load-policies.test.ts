import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { asWritten } from '../../src/policy/as-written.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { policyEntryJsonSchema } from '../../src/policy/policy-file-schema.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { renderFinding } from '../../src/yaml/diagnostic.ts';
import { folderWith } from '../settings/folder.ts';
import { everyLine, policyWith } from './p.ts';
import { registry } from './tiny-job.ts';

const load = (files: Record<string, string>) => loadPolicies({ dir: folderWith(files), registry });

function onlyPolicy(lines: string): Policy {
  const { policies, findings } = load({ 'p.yaml': policyWith(lines) });
  const [policy] = policies;
  if (!policy) throw new Error(findings[0]?.message);
  return policy;
}

/** Places are counted from the first of the lines. */
function mistakesOf(lines: string): string[] {
  return load({ 'p.yaml': policyWith(lines) }).findings.map(
    ({ line, column, message, suggestion }) =>
      `${line - 3}:${column - 4} ${message}${suggestion ? ` ${suggestion}` : ''}`,
  );
}

test('who writes filter instead of filters is shown the place, the lines around it and what was meant', () => {
  const dir = folderWith({
    'nightly.yaml': `policies:
  - name: nightly
    job: site-sync
    select:
      filter: { connection_status: { eq: connected } }
      sort: last_sync_at,asc
`,
  });

  const { policies, findings } = loadPolicies({ dir, registry });

  expect(policies).toEqual([]);
  expect(findings).toHaveLength(1);
  expect(findings[0]).toMatchObject({
    file: join(dir, 'nightly.yaml'),
    line: 5,
    column: 7,
    path: 'policies[0].select.filter',
    suggestion: 'did you mean filters?',
  });
  expect(findings.map((finding) => renderFinding(finding, { color: false }))).toEqual([
    [
      `${join(dir, 'nightly.yaml')}:5:7: "filter" is not a known key. Did you mean filters?`,
      '    3 |     job: site-sync',
      '    4 |     select:',
      '  > 5 |       filter: { connection_status: { eq: connected } }',
      '      |       ^^^^^^',
      '    6 |       sort: last_sync_at,asc',
      '    7 |',
    ].join('\n'),
  ]);
});

test('a policy of two lines has every default', () => {
  const policy = onlyPolicy('');
  expect(policy).toMatchObject({
    name: 'p',
    account: 'default',
    job: 'site-sync',
    select: { filters: {} },
    options: { depth: 'full' },
    limits: { concurrency: 20, maxTargets: 1000, maxPercent: 100 },
    retry: { attempts: 4, backoff: 'exponential', delayMs: 30_000, maxDelayMs: 900_000 },
    timeout: { targetMs: 7_200_000, runMs: 28_800_000 },
    notify: [],
  });
  expect(policy.schedule).toBeUndefined();
  expect(policy.limits.stopAfterFailures).toBeUndefined();
});

test('a schedule of one line has every default', () => {
  expect(onlyPolicy('schedule: { cron: "0 2 * * *" }').schedule).toEqual({
    cron: ['0 2 * * *'],
    timezone: 'UTC',
    jitterMs: 0,
    overlap: 'skip',
    catchupMs: 0,
    blackout: [],
  });
});

test('everything that is written arrives', () => {
  const { file, line, hash, ...rest } = onlyPolicy(everyLine);
  expect(rest).toEqual({
    name: 'p',
    description: 'One',
    owner: 'web team',
    labels: { team: 'shop', 'on-call': 'night shift' },
    account: 'default',
    job: 'site-sync',
    priority: 'normal',
    schedule: {
      cron: ['0 2 * * *', '0 14 * * 6'],
      timezone: 'Europe/Berlin',
      dst: { gap: 'skip', overlap: 'both' },
      jitterMs: 600_000,
      spreadMs: 3_600_000,
      overlap: 'cancel-running',
      catchupMs: 7_200_000,
      blackout: [{ from: '2026-12-20', to: '2027-01-03' }],
      onBlackout: 'next_workday',
      pauseAfterFailures: 3,
    },
    select: {
      filters: { connection_status: { eq: 'connected' }, tags: { in: ['12'] } },
      where: 'site.sync.last_sync_at < now - duration("20h")',
      sort: 'last_sync_at,asc',
      timezone: 'Europe/Berlin',
      limit: 500,
    },
    options: { message: 'Nightly', depth: 'quick' },
    limits: {
      concurrency: 50,
      maxTargets: 20,
      maxPercent: 12.5,
      perClient: { concurrency: 2, maxTargets: 9 },
      perTag: { concurrency: 3 },
      stopAfterFailures: { percent: 10 },
    },
    retry: { attempts: 1, backoff: 'fixed', delayMs: 5000, maxDelayMs: 5000 },
    acceptRejections: ['Backups plan'],
    deadline: { minute: 390 },
    timeout: { targetMs: 600_000, runMs: 5_400_000 },
    window: { until: { afterMs: 5 * 3_600_000 } },
    recheck: { maxAgeMs: 60_000 },
    notify: [
      { on: ['failed', 'blocked'], to: 'ops' },
      {
        on: ['failed', 'partial', 'stopped', 'blocked', 'paused', 'findings', 'recovered'],
        // Of the rules with a label, one is of other policies, and one holds for all targets of this one.
        to: 'shop',
        route: [{ client: 'ACME', to: 'acme' }],
      },
    ],
  });
  expect([file.endsWith('p.yaml'), /^[0-9a-f]{16}$/.test(hash)]).toEqual([true, true]);
});

test.each([
  ['select: { filters: { tag: { in: [1] } } }', '1:22 Cannot filter by "tag". did you mean tags?'],
  [
    'select: { filters: { connection_status: { eq: conected } } }',
    '1:47 "conected" is not one of its values. did you mean connected?',
  ],
  [
    'select: { filters: { created_at: { gt: 2026-01-01 } } }',
    '1:36 "created_at" does not support the operator "gt". did you mean gte?',
  ],
  [
    'select: { filters: { created_at: { gte: today } } }',
    '1:41 "created_at" must be a time such as 2026-11-21T02:00:00Z.',
  ],
  [
    'select: { filters: { paused: true } }',
    '1:30 "paused" must be an operator with a value. write paused: { eq: ... }',
  ],
  ['select: { sort: "last_sync,asc" }', '1:17 Cannot sort by "last_sync". did you mean last_sync_at?'],
  ['select: { sort: url }', '1:17 Sort is written "url,asc" or "url,desc".'],
  [
    'select: { timezone: Europe/Berlinn }',
    '1:21 "timezone" must be the name of a time zone such as Europe/Berlin. did you mean Europe/Berlin?',
  ],
  [
    'select: { timezone: berlin }',
    '1:21 "timezone" must be the name of a time zone such as Europe/Berlin. did you mean Europe/Berlin?',
  ],
  ['schedule: { cron: "0 2 * * *", catchup: { mode: all } }', '1:41 "window" is missing.'],
  [
    'schedule: { cron: "0 2 * * *", jitter: [] }',
    '1:40 "jitter" must be a duration such as 30s, 10m, 2h, 1h30m or 90d.',
  ],
  ['limits: { max_percent: [] }', '1:24 "max_percent" must be a percentage from 1% to 100%, such as 10%.'],
  [
    'limits: { stop_after_failures: [] }',
    '1:32 "stop_after_failures" must be a number of targets from 1, or a percentage such as 10%.',
  ],
  ['with: [a]', '1:7 "with" must be a map of keys and values, not a list.'],
  [
    'select: { where: site.url != "a and b" and true }',
    '1:40 This is not a valid condition in CEL: Unexpected character: \'d\'. write && instead of "and"',
  ],
  [
    'select: { where: site.url = "x" }',
    '1:27 This is not a valid condition in CEL: Unexpected character: =. write == to compare',
  ],
  ['select: { where: site.urll == "x" }', '1:23 site has no field "urll". did you mean url?'],
  ['with: { mesage: x }', '1:9 "mesage" is not a known key. did you mean message?'],
  ['with: { depth: ful }', '1:16 "depth" must be full or quick. did you mean full?'],
  ['schedule: { cron: "0 0 31 2 *" }', '1:19 "cron" never fires: there is no such day.'],
  [
    'accept_rejections: Backups plan',
    '1:20 "accept_rejections" must be a list, not a string. write it as a list, in [ ]',
  ],
  ['accept_rejections: [" a "]', '1:21 Entry 1 of "accept_rejections" must have at least 5 characters.'],
  ['schedule: { cron: 5 }', '1:19 "cron" must be a cron expression or a list of them.'],
  ['schedule: { cron: [] }', '1:19 "cron" must have at least 1 entry.'],
  ['schedule: { jitter: 10m }', '1:11 "cron" is missing.'],
  // One error: a key that is misspelt is not reported as missing too.
  ['schedule: { corn: "0 2 * * *" }', '1:13 "corn" is not a known key. did you mean cron?'],
  [
    'schedule: { cron: "0 2 * * *", overlap: wait }',
    '1:41 "overlap" must be skip, queue, queue-all, cancel-running or allow.',
  ],
  [
    'schedule: { cron: "0 2 * * *", blackout: [{ from: 2026-02-01, to: 2026-01-01 }] }',
    '1:67 "to" must not be before "from".',
  ],
  [
    'schedule: { cron: "0 2 * * *", blackout: [{ from: 2026-02-30, to: 2026-03-01 }] }',
    '1:51 "from" is not a day: February 2026 has 28 days.',
  ],
  [
    'schedule: { cron: "0 2 * * *", blackout: [2026-02-30] }',
    '1:43 "2026-02-30" is not a day: February 2026 has 28 days.',
  ],
  [
    'schedule: { cron: "0 2 * * *", blackout: [2026-13-01] }',
    '1:43 "2026-13-01" is not a day: there is no month 13.',
  ],
  [
    'schedule: { cron: "0 2 * * *", blackout: [25.12.2026] }',
    '1:43 "25.12.2026" must be a date in the form YYYY-MM-DD, such as 2026-12-25.',
  ],
  [
    'select: { filters: { created_at: { gte: 2026-02-30 } } }',
    '1:41 "created_at" must be a time such as 2026-11-21T02:00:00Z: February 2026 has 28 days.',
  ],
  ['with: { message: 12 }', '1:18 "message" must be a string, not a number. quote it'],
  ['limits: { max_percent: 120% }', '1:24 "max_percent" must be a percentage from 1% to 100%, such as 10%.'],
  ['limits: { concurrency: 2.5 }', '1:24 "concurrency" must be a whole number from 1 to 1000.'],
  [
    'limits: { stop_after_failures: 0 }',
    '1:32 "stop_after_failures" must be a number of targets from 1, or a percentage such as 10%.',
  ],
  ['retry: { delay: 20m }', '1:8 "max_delay" must be a duration that is not shorter than "delay".'],
  [
    'schedule: { cron: "0 2 * * *", spread: 8h }',
    '1:40 "spread" must be a duration that is shorter than "timeout.run".',
  ],
  [
    'schedule: { cron: "0 2 * * *", dst: { overlap: both, gap: shfit } }',
    '1:59 "gap" must be shift or skip. did you mean shift?',
  ],
  ['timeout: { target: 9h }', '1:20 "target" must be a duration that is not longer than "run".'],
  [
    'notify: [{ on: [fail], to: ops }]',
    '1:17 Entry 1 of "on" must be succeeded, partial, failed, cancelled, skipped, stopped, blocked, paused, findings, recovered, deadline, approval-wanted, approval-expired or gate-closed. did you mean failed?',
  ],
  [
    'notify: [{ on: [paused], to: ops, streak: 3 }]',
    '1:43 "streak" needs failed, partial or stopped under "on". add one of them, or remove it',
  ],
  [
    'notify: [{ to: ops, route: [{ to: shop }] }]',
    '1:29 Entry 1 of "route" needs a client, a tag or a label: which targets it is about.',
  ],
  [
    'notify: [{ to: ops, route: [{ label: "=x", to: shop }] }]',
    '1:38 "label" must be a label such as team=shop, or its name alone.',
  ],
  ['record: {}', '1:9 "record" must have custom_work, note or both.'],
  ['record: { note: alive }', '1:17 "note" must be living.'],
  ['record: { custom_work: { description: Care } }', '1:24 "title" is missing.'],
  ['jobs: x', '1:1 "jobs" is not a known key. did you mean job?'],
])('%s is a mistake', (lines, mistake) => {
  expect(mistakesOf(lines)).toEqual([mistake]);
});

test('an entry that is no map is called by its place in the list', () => {
  const { findings } = load({ 'p.yaml': 'policies:\n  - foo\n' });
  expect(findings.map(({ line, message }) => [line, message])).toEqual([
    [2, 'Entry 1 of "policies" must be a map of keys and values, not a string.'],
  ]);
});

test('a filter called as something that every object has is no filter', () => {
  expect(mistakesOf('select: { filters: { constructor: { eq: 1 } } }')[0]).toContain(
    'Cannot filter by "constructor".',
  );
});

test('a mistake in a condition over several lines is shown where it stands', () => {
  expect(
    mistakesOf('select:\n  where: >-\n    site.url.contains("x") &&\n      site.sync.last_synk_at < now'),
  ).toEqual(['4:17 site.sync has no field "last_synk_at". did you mean last_sync_at?']);
});

test('a mistake in one part does not hide those in the others', () => {
  const lines =
    'select:\n  filter: {}\n  filters: { tag: { in: [1] }, paused: yes }\n  sort: name,asc\nwith: { depth: x }';
  expect(mistakesOf(lines).map((mistake) => mistake.split(' ')[0])).toEqual([
    '2:3',
    '3:14',
    '3:40',
    '4:9',
    '5:16',
  ]);
});

test('a run that is shorter than the usual time for a target bounds the target as well', () => {
  expect(onlyPolicy('timeout: { run: 30m }').timeout).toEqual({ targetMs: 1_800_000, runMs: 1_800_000 });
});

test('a broken policy is left out and the good ones are there', () => {
  const { policies, findings } = load({
    'b.yml': 'policies:\n  - { name: one, job: site-sync }\n  - { name: two, job: site-sink }\n',
    'a.yaml': 'policies: [{ name: three, job: site-sync }]\n',
    'broken.yaml': 'policies: [\n',
  });

  expect(policies.map(({ name }) => name)).toEqual(['three', 'one']);
  expect(findings.map(({ message, suggestion }) => [message, suggestion])).toEqual([
    ['There is no job "site-sink".', 'did you mean site-sync?'],
    [expect.stringContaining('This is not valid YAML'), undefined],
  ]);
});

test.each([
  ['', 'delete the file if that is meant'],
  ['# nothing yet\n', 'delete the file if that is meant'],
  ['policies: []\n', 'delete the file, because others hold policies'],
  ['---\n', 'delete the file if that is meant'],
])('a file that holds %j is a mistake, so that no policy is lost unnoticed', (text, suggestion) => {
  const { findings } = load({ 'a.yaml': policyWith(''), 'emptied.yaml': text });
  expect(findings).toMatchObject([{ line: 1, message: 'The file holds no policy.', suggestion }]);
});

test('the only file says with an empty list that there are no policies', () => {
  expect(load({ 'none.yaml': 'policies: []\n' })).toMatchObject({ findings: [], policies: [] });
  expect(load({ 'none.yaml': '# nothing\n' }).findings).toMatchObject([
    { suggestion: 'to have no policies, write the line policies: []' },
  ]);
});

test('folders and other files among the policies are told, those for others are not', () => {
  const dir = folderWith({
    'a.yaml': policyWith(''),
    'b.yml': policyWith('').replace('name: p', 'name: q'),
    'more/c.yaml': policyWith(''),
    'd.json': '{}',
    'e.yaml.bak': '',
    '.hidden.yaml': '',
    'README.md': '',
  });
  const { policies, findings, ignored } = loadPolicies({ dir, registry });
  expect(policies.map(({ name }) => name)).toEqual(['p', 'q']);
  expect(findings).toEqual([]);
  expect(ignored).toEqual([join(dir, 'd.json'), join(dir, 'e.yaml.bak'), join(dir, 'more/')]);
});

test('a file that is named twice is read once, a folder stands for its files, and the config is no policy file', () => {
  const cwd = folderWith({ 'config/caretaker.yaml': '', 'config/policies/a.yaml': policyWith('') });
  const settings = loadSettings({ cwd, env: {} });
  const file = join(cwd, 'config/policies/a.yaml');
  const files = [
    file,
    join(cwd, 'config/../config/policies/a.yaml'),
    join(cwd, 'config/policies'),
    settings.file ?? '',
  ];

  const { policies, findings } = loadPolicies({ dir: cwd, files, registry, settings });

  expect(policies.map((policy) => policy.file)).toEqual([file]);
  expect(findings).toEqual([]);
});

test('a configuration among the policies is told to be one', () => {
  const { findings } = load({ 'a.yaml': 'redis: embedded\naccounts: {}\n' });
  expect(findings).toMatchObject([{ message: 'This is a configuration, not a file of policies.' }]);
});

const pausing = 'to stop its scheduled runs: caretaker policies pause <name>';
test.each([
  ['enabled: false', '1:1 "enabled"', pausing],
  ['paused: true', '1:1 "paused"', pausing],
  ['disabled: yes', '1:1 "disabled"', pausing],
  ['options: { mode: all }', '1:1 "options"', 'write what the job needs under "with"'],
  ['steps:\n  - job: site-sync\n    params: {}', '3:5 "params"', 'write what the job needs under "with"'],
  ['cron: "0 2 * * *"', '1:1 "cron"', 'write it under "schedule"'],
  ['where: "true"', '1:1 "where"', 'write it under "select"'],
  ['concurrency: 2', '1:1 "concurrency"', 'write it under "limits"'],
])('%s is told where it belongs, or what to do instead', (line, where, instead) => {
  expect(mistakesOf(line)).toContain(`${where} is not a known key. ${instead}`);
});

test.each([
  ['schedule: { cron: */5 * * * * }', '1:19', '*/5 * * * *'],
  ['schedule:\n  cron: * * * * *', '2:9', '* * * * *'],
  ['schedule:\n  cron: * 2 * * 1-5\n  jitter: 5m', '2:9', '* 2 * * 1-5'],
  ['schedule:\n  cron:\n    - "0 1 * * *"\n    - * 2 * * *', '4:7', '* 2 * * *'],
])('%j is one mistake: the quotes', (lines, place, cron) => {
  expect(mistakesOf(lines)).toEqual([
    `${place} In YAML, a string that starts with "*" is an alias. quote the cron expression: "${cron}"`,
  ]);
});

test('of two policies with one name the second is refused and told where the first stands', () => {
  const dir = folderWith({
    'a.yaml': 'policies: [{ name: twin, job: site-sync, description: first }]\n',
    'b.yaml': 'policies:\n  - name: twin\n    job: site-sync\n',
  });

  const { policies, findings } = loadPolicies({ dir, registry });

  expect(policies.map(({ description }) => description)).toEqual(['first']);
  expect(findings).toMatchObject([
    { line: 2, column: 11, message: `The name "twin" is taken already, in ${join(dir, 'a.yaml')}:1:20.` },
  ]);
});

test('of two files with one name the newer is blamed, wherever it stands: a copy replaces nothing', () => {
  const dir = folderWith({
    'a-copy.yaml': 'policies: [{ name: twin, job: site-sync, description: copy }]\n',
    'b.yaml': 'policies: [{ name: twin, job: site-sync, description: old }]\n',
  });
  utimesSync(join(dir, 'b.yaml'), 1_000_000, 1_000_000);

  const { policies, findings } = loadPolicies({ dir, registry });

  expect(policies.map(({ description }) => description)).toEqual(['old']);
  expect(findings.map(({ file }) => file)).toEqual([join(dir, 'a-copy.yaml')]);
});

test('with a misspelt job the rest of the policy is judged as if it were written right', () => {
  const { findings } = load({
    'a.yaml':
      'policies: [{ name: p, job: site-sink, select: { sort: "nonsense,asc", where: "nonsense" } }]\n',
  });
  expect(findings.map(({ path }) => path)).toEqual([
    'policies[0].job',
    'policies[0].select.sort',
    'policies[0].select.where',
  ]);
});

test('with a job that cannot be guessed it is said that the rest was not checked', () => {
  const { findings } = load({
    'a.yaml': 'policies: [{ name: p, job: moon-landing, select: { sort: "nonsense,asc" } }]\n',
  });
  expect(findings.map(({ message }) => message)).toEqual([
    'There is no job "moon-landing", so "select" and "with" were not checked.',
  ]);
});

test.each(['Nightly', 'a b', '-a', 'x'.repeat(64), 'a:b', ''])('"%s" is no name for a policy', (name) => {
  const { findings } = load({ 'a.yaml': `policies: [{ name: "${name}", job: site-sync }]\n` });
  expect(findings[0]?.message).toContain('"name" must consist of lowercase letters');
});

test('accounts and notifications have to be in the settings', () => {
  const settings = loadSettings({
    cwd: folderWith({
      'config/caretaker.yaml':
        'accounts: { main: {} }\nnotifications: { ops: { webhook: { url: "https://h.example/x" } } }\n',
    }),
    env: {},
  });
  const dir = folderWith({
    'p.yaml': policyWith('account: mian\nnotify: [{ to: opps }, { to: ops, route: [{ tag: a, to: osp }] }]'),
  });

  const { findings } = loadPolicies({ dir, registry, settings });

  expect(findings.map(({ message, suggestion }) => `${message} ${suggestion}`)).toEqual([
    'There is no account "mian". did you mean main?',
    'There is no notification "opps". did you mean ops?',
    'There is no notification "osp". did you mean ops?',
  ]);
});

const withCalendars = () =>
  loadSettings({
    cwd: folderWith({
      'config/caretaker.yaml':
        'calendars:\n  holidays: [2026-12-25, { from: 2026-12-31, to: 2027-01-02 }]\n  weekends: [saturday, sunday]\n',
    }),
    env: {},
  });

test('a blackout takes the days of calendars, and days of its own', () => {
  const blackout = 'blackout: [holidays, friday, 2026-11-30, { from: 2027-02-01, to: 2027-02-07 }]';
  const dir = folderWith({ 'p.yaml': policyWith(`schedule: { cron: "0 2 * * *", ${blackout} }`) });
  const settings = withCalendars();

  const { policies, findings } = loadPolicies({ dir, registry, settings });

  expect(findings).toEqual([]);
  expect(policies[0]?.schedule?.blackout).toEqual([
    { from: '2026-12-25', to: '2026-12-25', calendar: 'holidays' },
    { from: '2026-12-31', to: '2027-01-02', calendar: 'holidays' },
    { weekday: 'friday' },
    { from: '2026-11-30', to: '2026-11-30' },
    { from: '2027-02-01', to: '2027-02-07' },
  ]);
  const again = folderWith({
    'p.yaml': stringify({ policies: policies.map((one) => asWritten(one, registry)) }),
  });
  expect(loadPolicies({ dir: again, registry, settings }).policies[0]?.hash).toBe(policies[0]?.hash);
});

test('a calendar that is not in the configuration is told with its place, and which one was meant', () => {
  const blackout = 'blackout: [holydays, weekends, sundays]';
  const dir = folderWith({ 'p.yaml': policyWith(`schedule: { cron: "0 2 * * *", ${blackout} }`) });

  const { findings } = loadPolicies({ dir, registry, settings: withCalendars() });

  expect(findings.map(({ column, message, suggestion }) => [column, message, suggestion])).toEqual([
    [47, 'There is no calendar "holydays".', 'did you mean holidays?'],
    [67, 'There is no calendar "sundays".', 'did you mean sunday?'],
  ]);
});

test('only the files that are asked for are read', () => {
  const dir = folderWith({ 'a.yaml': policyWith(''), 'b.yaml': 'policies: 3\n' });
  const { policies, findings } = loadPolicies({ dir, files: [join(dir, 'a.yaml')], registry });
  expect([policies.length, findings.length]).toEqual([1, 0]);
});

test('a file or folder that is not there is a finding', () => {
  const files = loadPolicies({ dir: '/none', files: ['/none/a.yaml'], registry });
  expect(files.findings).toMatchObject([{ file: '/none/a.yaml', message: 'The file does not exist.' }]);
  const folder = loadPolicies({ dir: '/none', registry });
  expect(folder.findings).toMatchObject([{ file: '/none', suggestion: expect.stringMatching(/^mount it/) }]);
});

test.each(['[null]', '[3]', '[[]]', '[{}]', '{}', 'x', '[{ __proto__: { job: site-sync }, name: a }]'])(
  'policies: %s is a mistake and harms nobody',
  (text) => {
    const { policies, findings } = load({ 'p.yaml': `policies: ${text}\n` });
    expect(policies).toEqual([]);
    expect(findings.length).toBeGreaterThan(0);
  },
);

test('what policies have in common can be written once', () => {
  const { policies, findings } = load({
    'p.yaml': `policies:
  - { name: a, job: site-sync, limits: &limits { concurrency: 7 } }
  - { name: b, job: site-sync, limits: *limits }
  - { name: c, job: site-sync, limits: *limits, select: { wher: x } }
`,
  });
  expect(policies.map(({ name, limits }) => [name, limits.concurrency])).toEqual([
    ['a', 7],
    ['b', 7],
  ]);
  expect(findings).toMatchObject([{ line: 4, suggestion: 'did you mean where?' }]);
});

test('a policy cannot be changed by the code that uses it', () => {
  expect(() => {
    onlyPolicy('').limits.maxTargets = 1_000_000;
  }).toThrow(TypeError);
});

test('the hash is that of what the policy does, not of how it is written', () => {
  const hash = (lines: string) => onlyPolicy(lines).hash;
  const written = 'limits: { max_targets: 5, concurrency: 2 }\nselect: { limit: 3 }';

  expect(hash(`description: other\nselect: { limit: 3 }\nlimits: { concurrency: 2, max_targets: 5 }`)).toBe(
    hash(written),
  );
  expect(hash('')).toBe(hash('retry: { delay: 30s }'));
  expect(hash('select: { limit: 4 }')).not.toBe(hash('select: { limit: 3 }'));
  expect(hash('with: { depth: quick }')).not.toBe(hash(''));
});

test('every key of a policy is described in the JSON Schema', () => {
  interface Schema {
    description?: string;
    properties?: Record<string, Schema>;
    items?: Schema;
  }
  const undescribed = ({ properties = {}, items }: Schema, path: string): string[] => [
    ...(items ? undescribed(items, `${path}[]`) : []),
    ...Object.entries(properties).flatMap(([key, inner]) => [
      ...(inner.description ? [] : [`${path}.${key}`]),
      ...undescribed(inner, `${path}.${key}`),
    ]),
  ];
  expect(undescribed(policyEntryJsonSchema() as Schema, '')).toEqual([]);
});
