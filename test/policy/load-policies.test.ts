import { expect, test } from 'vitest';
import { load as loadSettings } from '../settings/load.ts';
import { everyLine, mistakesIn, policyIn, policyWith, read, writtenAgain } from './p.ts';

/** Places are counted from the first of the lines. */
const mistakesOf = (lines: string): string[] =>
  mistakesIn(policyWith(lines)).map((mistake) =>
    mistake.replace(/^(\d+):(\d+)/, (_, line, column) => `${line - 3}:${column - 4}`),
  );

test('a policy of two lines has every default', () => {
  const policy = policyIn(policyWith(''));
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
  expect(policyIn(policyWith('schedule: { cron: "0 2 * * *" }')).schedule).toEqual({
    cron: ['0 2 * * *'],
    timezone: 'UTC',
    jitterMs: 0,
    overlap: 'skip',
    catchupMs: 0,
    blackout: [],
  });
});

test('everything that is written arrives', () => {
  const { file, line, hash, ...rest } = policyIn(policyWith(everyLine));
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
  ['schedule: { aftr: { policy: q } }', '1:13 "aftr" is not a known key. did you mean after?'],
  [
    'select:\n  filter: { connection_status: { eq: x } }',
    '2:3 "filter" is not a known key. did you mean filters?',
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

test.each([
  ['catchup: { mode: all }', '1:41 "window" is missing.'],
  ['jitter: []', '1:40 "jitter" must be a duration such as 30s, 10m, 2h, 1h30m or 90d.'],
  ['overlap: wait', '1:41 "overlap" must be skip, queue, queue-all, cancel-running or allow.'],
  ['blackout: [{ from: 2026-02-01, to: 2026-01-01 }]', '1:67 "to" must not be before "from".'],
  [
    'blackout: [{ from: 2026-02-30, to: 2026-03-01 }]',
    '1:51 "from" is not a day: February 2026 has 28 days.',
  ],
  ['blackout: [2026-02-30]', '1:43 "2026-02-30" is not a day: February 2026 has 28 days.'],
  ['blackout: [2026-13-01]', '1:43 "2026-13-01" is not a day: there is no month 13.'],
  ['blackout: [25.12.2026]', '1:43 "25.12.2026" must be a date in the form YYYY-MM-DD, such as 2026-12-25.'],
  ['spread: 8h', '1:40 "spread" must be a duration that is shorter than "timeout.run".'],
  ['dst: { overlap: both, gap: shfit }', '1:59 "gap" must be shift or skip. did you mean shift?'],
])('of a schedule, %s is a mistake', (key, mistake) => {
  expect(mistakesOf(`schedule: { cron: "0 2 * * *", ${key} }`)).toEqual([mistake]);
});

test('an entry that is no map is called by its place in the list', () => {
  expect(mistakesIn('policies:\n  - foo\n')).toEqual([
    '2:5 Entry 1 of "policies" must be a map of keys and values, not a string.',
  ]);
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
  expect(policyIn(policyWith('timeout: { run: 30m }')).timeout).toEqual({
    targetMs: 1_800_000,
    runMs: 1_800_000,
  });
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

test('with a misspelt job the rest of the policy is judged as if it were written right', () => {
  const { findings } = read(
    'policies: [{ name: p, job: site-sink, select: { sort: "nonsense,asc", where: "nonsense" } }]\n',
  );
  expect(findings.map(({ path }) => path)).toEqual([
    'policies[0].job',
    'policies[0].select.sort',
    'policies[0].select.where',
  ]);
});

test('with a job that cannot be guessed it is said that the rest was not checked', () => {
  expect(
    mistakesIn('policies: [{ name: p, job: moon-landing, select: { sort: "nonsense,asc" } }]\n'),
  ).toEqual([
    '1:28 There is no job "moon-landing", so "select" and "with" were not checked. available: site-sync',
  ]);
});

test.each(['Nightly', 'a b', '-a', 'x'.repeat(64), 'a:b', ''])('"%s" is no name for a policy', (name) => {
  expect(mistakesIn(`policies: [{ name: "${name}", job: site-sync }]\n`)[0]).toContain(
    '"name" must consist of lowercase letters',
  );
});

test('accounts and notifications have to be in the settings', () => {
  const settings = loadSettings(
    'accounts: { main: {} }\nnotifications: { ops: { webhook: { url: "https://h.example/x" } } }\n',
  );
  const notify = '[{ to: opps }, { to: ops, route: [{ tag: a, to: osp }] }]';

  expect(mistakesIn(policyWith(`account: mian\nnotify: ${notify}`), { settings })).toEqual([
    '4:14 There is no account "mian". did you mean main?',
    '5:20 There is no notification "opps". did you mean ops?',
    '5:61 There is no notification "osp". did you mean ops?',
  ]);
});

const withCalendars = () =>
  loadSettings(
    'calendars:\n  holidays: [2026-12-25, { from: 2026-12-31, to: 2027-01-02 }]\n  weekends: [saturday, sunday]\n',
  );
const restingOn = (days: string) => policyWith(`schedule: { cron: "0 2 * * *", blackout: [${days}] }`);

test('a blackout takes the days of calendars, and days of its own', () => {
  const settings = withCalendars();
  const own = 'friday, 2026-11-30, { from: 2027-02-01, to: 2027-02-07 }';

  const policy = policyIn(restingOn(`holidays, ${own}`), { settings });

  expect(policy.schedule?.blackout).toEqual([
    { from: '2026-12-25', to: '2026-12-25', calendar: 'holidays' },
    { from: '2026-12-31', to: '2027-01-02', calendar: 'holidays' },
    { weekday: 'friday' },
    { from: '2026-11-30', to: '2026-11-30' },
    { from: '2027-02-01', to: '2027-02-07' },
  ]);
  expect(policyIn(writtenAgain([policy]), { settings }).hash).toBe(policy.hash);
});

test('a calendar that is not in the configuration is told with its place, and which one was meant', () => {
  expect(mistakesIn(restingOn('holydays, weekends, sundays'), { settings: withCalendars() })).toEqual([
    '4:47 There is no calendar "holydays". did you mean holidays?',
    '4:67 There is no calendar "sundays". did you mean sunday?',
  ]);
});

test.each(['[null]', '[3]', '[[]]', '[{}]', '{}', 'x', '[{ __proto__: { job: site-sync }, name: a }]'])(
  'policies: %s is a mistake and harms nobody',
  (text) => {
    const { policies, findings } = read(`policies: ${text}\n`);
    expect(policies).toEqual([]);
    expect(findings.length).toBeGreaterThan(0);
  },
);

test('what policies have in common can be written once', () => {
  const { policies, findings } = read(`policies:
  - { name: a, job: site-sync, limits: &limits { concurrency: 7 } }
  - { name: b, job: site-sync, limits: *limits }
  - { name: c, job: site-sync, limits: *limits, select: { wher: x } }
`);
  expect(policies.map(({ name, limits }) => [name, limits.concurrency])).toEqual([
    ['a', 7],
    ['b', 7],
  ]);
  expect(findings).toMatchObject([{ line: 4, suggestion: 'did you mean where?' }]);
});

test('a policy cannot be changed by the code that uses it', () => {
  expect(() => {
    policyIn(policyWith('')).limits.maxTargets = 1_000_000;
  }).toThrow(TypeError);
});

test('the hash is that of what the policy does, not of how it is written', () => {
  const hash = (lines: string) => policyIn(policyWith(lines)).hash;
  const written = 'limits: { max_targets: 5, concurrency: 2 }\nselect: { limit: 3 }';

  expect(hash(`description: other\nselect: { limit: 3 }\nlimits: { concurrency: 2, max_targets: 5 }`)).toBe(
    hash(written),
  );
  expect(hash('')).toBe(hash('retry: { delay: 30s }'));
  expect(hash('select: { limit: 4 }')).not.toBe(hash('select: { limit: 3 }'));
  expect(hash('with: { depth: quick }')).not.toBe(hash(''));
});
