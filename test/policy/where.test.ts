import { expect, test } from 'vitest';
import { ExpressionError } from '../../src/expression/expression.ts';
import { NotShownError } from '../../src/expression/fields.ts';
import { fieldsOfItem } from '../../src/job/fields.ts';
import { compileWhere, compileWhereOf } from '../../src/policy/where.ts';
import { tinyJob } from './tiny-job.ts';

const now = new Date('2026-11-21T02:00:00Z');
const site = {
  id: '7',
  url: 'https://a.example',
  created_at: '2026-11-01T00:00:00Z',
  client: { id: '3', email: 'a@b.example' },
  tags: [
    { id: '12', name: 'gold' },
    { id: '15', name: 'eu' },
  ],
  sync: { last_sync_at: '2026-11-20T01:00:00Z', in_progress: false },
  backups: { enabled: true, available_snapshots: 5 },
  connection: { status: 'connected' },
};

const holds = (condition: string, candidate: unknown = site) =>
  compileWhereOf(tinyJob, {}, condition).test({ site: candidate }, now);

function faultOf(condition: string, compile = () => compileWhereOf(tinyJob, {}, condition)): ExpressionError {
  try {
    compile();
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
  throw new Error('The condition was taken.');
}

test.each([
  'site.sync.last_sync_at < now - duration("20h")',
  'now - site.sync.last_sync_at > duration("24h30m")',
  'site.created_at >= timestamp("2026-11-01T00:00:00Z")',
  'site.tags.exists(tag, tag.name == "gold")',
  'site.tags.exists(tag, tag.id in ["12", "99"])',
  'site.tags[1].name == "eu"',
  'size(site.tags) == 2',
  'site.backups.available_snapshots == 5 && site.backups.available_snapshots in [4, 5]',
  'site.backups.available_snapshots + 1 > 5 && 2 * site.backups.available_snapshots <= 10.0',
  'site.url.re("^https://[a-c]\\\\.") && !site.url.contains("staging")',
  'site.client.id != "" && site.backups.enabled',
  'now.getHours("Europe/Berlin") == 3',
  'site.connection.status == "connected" ? true : false',
  'site.connection.status in ["connected", ""] && site.connection.status != ""',
  'string(site.created_at) == "2026-11-01T00:00:00Z"',
  'string(site.created_at).startsWith("2026-11")',
  'string(now - site.created_at) == "1735200s"',
  'int(site.created_at) == 1793491200',
  'true',
])('%s holds', (condition) => {
  expect(holds(condition)).toBe(true);
});

test('a site that was never synced counts as synced in 1970', () => {
  const never = { ...site, sync: { last_sync_at: null } };
  expect(holds('site.sync.last_sync_at < now - duration("20h")', never)).toBe(true);
  expect(holds('site.sync.last_sync_at == timestamp("1970-01-01T00:00:00Z")', never)).toBe(true);
});

test('what is null is empty, zero or false', () => {
  const candidate = { url: null, client: null, tags: null, backups: null };
  const empty = 'site.url == "" && site.client.id == "" && site.tags.size() == 0';
  expect(holds(`${empty} && site.backups.available_snapshots == 0 && !site.backups.enabled`, candidate)).toBe(
    true,
  );
});

test.each([
  // Conditions in front of a deletion: absent is neither "no" nor "none".
  ['!site.locked', 'site.locked'],
  ['!site.tags.exists(t, t.name == "keep")', 'site.tags', { tags: undefined }],
  ['!site.tags.exists(t, t.name == "keep")', 'site.tags.name', { tags: [{ id: '12' }] }],
  ['site.tags.size() == 0', 'site.tags', { tags: 'gold' }],
  ['site.sync.last_sync_at < now - duration("20h")', 'site.sync.last_sync_at', { sync: {} }],
  ['site.sync.last_sync_at < now', 'site.sync.last_sync_at', { sync: { last_sync_at: 'rubbish' } }],
  ['site.client.company_name != "ACME"', 'site.client.company_name'],
  ['site.connection.status != "disconnected"', 'site.connection', { connection: undefined }],
  ['site.backups.available_snapshots == 0', 'site.backups.available_snapshots', { backups: {} }],
  ['site.security.enabled || site.locked', 'site.locked'],
])('%s is not decided by %s when it is not shown', (condition, field, changes: object = {}) => {
  expect(() => holds(condition, { ...site, ...changes })).toThrow(NotShownError);
  expect(() => holds(condition, { ...site, ...changes })).toThrow(
    field === 'site.locked'
      ? /^The service does not show site\.(locked|security)\.$/
      : `does not show ${field}.`,
  );
});

test.each([
  ['site.locked || site.connection.status == "connected"', true],
  ['site.connection.status == "connected" || site.locked', true],
  ['site.locked && site.connection.status != "connected"', false],
  ['site.tags.exists(t, t.name == "eu")', true, { tags: [{ id: '12' }, { id: '15', name: 'eu' }] }],
  ['site.tags.all(t, t.name == "eu")', false, { tags: [{ id: '12' }, { id: '15', name: 'gold' }] }],
])('%s is %j whatever is not shown', (condition, expected, changes: object = {}) => {
  expect(holds(condition, { ...site, ...changes })).toBe(expected);
});

test('what the specification itself shows only at times is empty where it is absent', () => {
  const where = compileWhere('schedule.scope.sites.ids.size() == 0', {
    schedule: fieldsOfItem('listAutoUpdateSchedules'),
  });
  expect(where.test({ schedule: { id: '1', scope: { sites: { selection: 'all' } } } }, now)).toBe(true);
});

const allFields = `available: ${Object.keys(fieldsOfItem('listSites')).join(', ')}`;
// ^ stands before the character that is shown.
test.each([
  ['site.sync.^last_synk_at < now', 'site.sync has no field "last_synk_at". did you mean last_sync_at?'],
  ['site.^statsu == "x"', `site has no field "statsu". ${allFields}`],
  ['site.tags.exists(t, t.^nam == "x")', 'There is no field "nam". did you mean name?'],
  ['^url == "x"', '"url" is not a variable. did you mean site.url?'],
  ['^sit.url == "x"', '"sit" is not a variable. did you mean site?'],
  ['site.^constructor == 1', `site has no field "constructor". ${allFields}`],
  ['^site.url > 3', 'These types cannot be combined: string > int; site.url is a string.'],
  [
    '^site.created_at > "2026-01-01"',
    'These types cannot be combined: timestamp > string; site.created_at is a time. write ' +
      'timestamp("2026-11-21T02:00:00Z")',
  ],
  [
    '^site.sync.last_sync_at == null',
    'These types cannot be combined: timestamp == null; site.sync.last_sync_at is a time. a field that ' +
      'is null is "", 0, false or 1970-01-01',
  ],
  [
    '^site.locked == site.backups',
    'These types cannot be combined: bool == object; site.locked is true or false, site.backups is an ' +
      'object. use a field of it: site.backups.enabled, site.backups.real_time, ' +
      'site.backups.available_snapshots, site.backups.retention_days, site.backups.latest_snapshot, ' +
      'site.backups.files, site.backups.database',
  ],
  [
    '^"gold" in site.tags',
    'These types cannot be combined: string in list<object>; site.tags is a list. ask for its items: ' +
      'site.tags.exists(one, one.name == "...")',
  ],
  [
    '^now - site.created_at > "30d"',
    'These types cannot be combined: duration > string. write duration("20h")',
  ],
  ['^site.url', 'The condition is to be true or false, but it is string.'],
  ['site.url ==^', 'This is not a valid condition in CEL: Unexpected token: the end.'],
  ['^', 'This is not a valid condition in CEL: Unexpected token: the end.'],
  [
    'now - site.created_at > duration(^"5x")',
    'Invalid duration string: 5x. write days, hours, minutes and seconds: duration("1d12h30m")',
  ],
  [
    'true || site.created_at > timestamp(^"tomorrow")',
    'timestamp() requires a string in ISO 8601 format. write a time with its zone: ' +
      'timestamp("2026-11-21T02:00:00Z")',
  ],
  ['now.getHours(^"Europe/Berlinn") == 2', 'There is no time zone "Europe/Berlinn".'],
  [
    'site.url.^matches("a")',
    'matches() can be extremely slow on some texts and is not supported. use re(), which accepts the ' +
      'same patterns',
  ],
  [
    '^has(site.client)',
    'has() is not needed: a null field is "", 0, false, empty or 1970-01-01, and a field that is not ' +
      'shown decides nothing. compare with that value',
  ],
  [
    'site.url.re(^"(")',
    'The pattern is not a valid regular expression: error parsing regexp: missing closing ): `(`.',
  ],
  [
    '^foo(1) == 2',
    'There is no function foo(). available: bool, size, double, int, string, timestamp, duration, ago',
  ],
  ['site.url.^foo()', 'There is no function foo().'],
  ['^timestmp(site.url) < now', 'There is no function timestmp(). did you mean timestamp?'],
  ['site.url.^startsWit("x")', 'There is no function startsWit(). did you mean startsWith?'],
  ['site.url.^toLowerCase() == "x"', 'There is no function toLowerCase(). did you mean lowerAscii?'],
  ['^len(site.tags) > 1', 'There is no function len(). did you mean size?'],
  ['site.tags.^exist(t, t.name == "x")', 'There is no function exist(). did you mean exists?'],
  ['site.created_at.^year() == 2026', 'There is no function year(). did you mean getFullYear?'],
  [
    '^int(site.tags) == 1',
    'There is no function int(list<site.tags>). it is called as int(int), int(number), int(string), ' +
      'int(timestamp)',
  ],
  [
    '^startsWith(site.url, "https")',
    'There is no function startsWith(string, string). it is called as string.startsWith(string)',
  ],
  [
    'site.connection.status == ^"conected"',
    '"conected" is not one of the values of site.connection.status. did you mean connected?',
  ],
  [
    '^"Connected" != site.connection.status',
    '"Connected" is not one of the values of site.connection.status. did you mean connected?',
  ],
  [
    'site.connection.status in ["connected", ^"disconected"]',
    '"disconected" is not one of the values of site.connection.status. did you mean disconnected?',
  ],
  [
    'site.url != "" && (site.backups.enabled || site.connection.status == ^"down")',
    '"down" is not one of the values of site.connection.status. available: connected, disconnected',
  ],
  ['^1 == 2', 'The condition never holds: it asks nothing of the candidate.'],
  [
    '^timestamp("2020-01-01T00:00:00Z") > timestamp("2021-01-01T00:00:00Z")',
    'The condition never holds: it asks nothing of the candidate.',
  ],
])('%s is refused with its place', (marked, expected) => {
  const { message, suggestion, offset } = faultOf(marked.replace('^', ''));
  expect(suggestion ? `${message} ${suggestion}` : message).toBe(expected);
  expect(offset).toBe(marked.indexOf('^'));
});

test('a condition that is far too long or too deep is refused', () => {
  expect(faultOf(`site.url == "${'x'.repeat(5000)}"`).message).toContain('longer than 4000');
  expect(faultOf(`${'('.repeat(200)}true${')'.repeat(200)}`).message).toContain(
    'not a valid condition in CEL',
  );
  expect(faultOf(Array(600).fill('true').join('||')).message).toContain('not a valid condition in CEL');
});

test('a pattern that would keep an ordinary engine busy for ever is answered', () => {
  const where = compileWhereOf(tinyJob, {}, 'site.url.re("^(a+)+$")');
  expect(where.test({ site: { url: `${'a'.repeat(5000)}!` } }, now)).toBe(false);
});

test('a condition that cannot be answered for a candidate says so in a sentence', () => {
  const where = compileWhereOf(tinyJob, {}, 'site.tags[5].name == "gold"');
  expect(() => where.test({ site }, now)).toThrow(ExpressionError);
  expect(() => where.test({ site }, now)).toThrow(
    /^The condition could not be evaluated for a site: .*index 5.*\.$/,
  );
});

test('a condition can be about any items of the service, and nothing is known of one that is not there', () => {
  const where = compileWhere('task.status == "failed" && site.url != ""', {
    task: fieldsOfItem('listTasks'),
    site: fieldsOfItem('listSites'),
  });
  expect(where.test({ task: { id: '1', status: 'failed' }, site }, now)).toBe(true);
  expect(where.test({ task: { id: '1', status: 'completed' } }, now)).toBe(false);
  expect(() => where.test({ task: { id: '1', status: 'failed' } }, now)).toThrow(
    'The service does not show site.url.',
  );
});

test.each([
  ['report.email.recipients.exists(r, r.status == "deliverd")', 'r.status', 'did you mean delivered?'],
  [
    'report.email.recipients.filter(r, r.email != "").exists(it, "bounce" == it.status)',
    'it.status',
    'did you mean bounced?',
  ],
  ['report.email.recipients[0].status == "sended"', 'report.email.recipients[0].status', undefined],
  ['cel.bind(kind, report.type, kind == "one-time")', 'kind', 'did you mean one_time?'],
])('%s is judged by the values inside the list', (condition, field, suggestion) => {
  const fault = faultOf(condition, () => compileWhere(condition, { report: fieldsOfItem('listReports') }));
  expect(fault).toMatchObject({ message: expect.stringContaining(`is not one of the values of ${field}.`) });
  if (suggestion !== undefined) expect(fault).toMatchObject({ suggestion });
});
