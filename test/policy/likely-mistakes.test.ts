/**
 * Policies that are right by their form and would silently do nothing, or something else than what is
 * written.
 */
import { describe, expect, test } from 'vitest';
import { load as loadSettings } from '../settings/load.ts';
import { policyWith, read as readPolicies } from './p.ts';

const DAY_MS = 86_400_000;
const day = (ahead: number) => new Date(Date.now() + ahead * DAY_MS).toISOString().slice(0, 10);

/** What is said of a policy with these lines; `policies` holds its name when it can be used. */
function read(lines: string, calendars = '') {
  const settings = loadSettings(calendars);
  const { policies, findings, warnings } = readPolicies(policyWith(lines), { settings });
  const words = ({ message, suggestion }: (typeof findings)[number]) =>
    suggestion === undefined ? message : `${message} ${suggestion}`;
  return {
    policies: policies.map(({ name }) => name),
    findings: findings.map(words),
    warnings: warnings.map(words),
  };
}

describe('conditions on one field that exclude each other', () => {
  test.each([
    ['created_at: { gte: 2026-12-01, lte: 2026-11-01 }', 'gte', 'lte', 'created_at'],
    ['created_at: { gte: "2026-11-02T00:00:00Z", lte: "2026-11-01T23:59:59Z" }', 'gte', 'lte', 'created_at'],
    [
      'created_at: { gte: "2026-11-02T01:00:00+02:00", lte: "2026-11-01T22:59:59Z" }',
      'gte',
      'lte',
      'created_at',
    ],
    ['php_version: { gt: "8.3", lt: "8.1" }', 'gt', 'lt', 'php_version'],
    ['php_version: { gt: "8.10", lt: "8.9" }', 'gt', 'lt', 'php_version'],
    ['php_version: { gt: "8.1", lt: "8.1" }', 'gt', 'lt', 'php_version'],
    ['php_version: { eq: "7.4", gt: "8.0" }', 'eq', 'gt', 'php_version'],
  ])('%s can match nothing', (filter, one, other, field) => {
    expect(read(`select: { filters: { ${filter} } }`)).toEqual({
      policies: [],
      findings: [`No item can meet both "${one}" and "${other}" of "${field}".`],
      warnings: [],
    });
  });

  test.each([
    'created_at: { gte: 2026-11-01, lte: 2026-12-01 }',
    // One whole day.
    'created_at: { gte: 2026-11-01, lte: 2026-11-01 }',
    // The end of that day is later than its noon.
    'created_at: { gte: "2026-11-01T12:00:00Z", lte: 2026-11-01 }',
    'created_at: { gte: "2026-11-01T00:00:00Z", lte: "2026-11-01T00:00:00.000Z" }',
    'created_at: { gte: "2026-11-01T02:00:00+02:00", lte: "2026-11-01T00:00:00Z" }',
    'php_version: { gt: "8.9", lt: "8.10" }',
    // 8 may stand for all that begin with it.
    'php_version: { gt: "8", lt: "8.3" }',
    'php_version: { eq: "8.1", gt: "8" }',
  ])('%s is taken', (filter) => {
    expect(read(`select: { filters: { ${filter} } }`)).toEqual({
      policies: ['p'],
      findings: [],
      warnings: [],
    });
  });
});

describe('numbers that YAML reads otherwise than they are written', () => {
  test.each([
    ['select: { filters: { php_version: { eq: 8.10 } } }', '8.10', '8.1'],
    ['select: { filters: { php_version: { gt: 8.0 } } }', '8.0', '8'],
    ['select: { filters: { tags: { in: [12, 012] } } }', '012', '12'],
    ['select: { filters: { id: { eq: 0x1F } } }', '0x1F', '31'],
    ['select: { filters: { id: { eq: 1e3 } } }', '1e3', '1000'],
    [
      'select: { filters: { id: { eq: 12345678901234567890 } } }',
      '12345678901234567890',
      '12345678901234567000',
    ],
  ])('%s is to be quoted', (lines, written, number) => {
    expect(read(lines)).toEqual({
      policies: [],
      findings: [`Without quotes, ${written} is the number ${number}. quote it: "${written}"`],
      warnings: [],
    });
  });

  test.each([
    'select: { filters: { php_version: { eq: 8.1 } } }',
    'select: { filters: { php_version: { eq: "8.10" } } }',
    'select: { filters: { tags: { in: [12, "012"] } } }',
    'limits: { max_targets: 0100 }',
  ])('%s is taken', (lines) => {
    expect(read(lines).findings).toEqual([]);
  });
});

describe('a schedule whose every time is blacked out', () => {
  const week = '[monday, tuesday, wednesday, thursday, friday, saturday, sunday]';
  const always =
    'The policy never fires: every time of the schedule is on a day of "blackout". remove a weekday from it, or set "enabled: false" to switch the schedule off';

  test.each([
    ['"0 2 * * *"', week, ''],
    ['"*/5 * * * *"', week, ''],
    ['"0 2 * * 1-5"', '[monday, tuesday, wednesday, thursday, friday]', ''],
    ['["0 2 * * 6", "0 4 * * 0"]', '[weekends]', 'calendars: { weekends: [saturday, sunday] }'],
    ['"0 2 13 * 5"', '[friday]', ''],
  ])('cron %s with blackout %s is an error', (cron, blackout, calendars) => {
    expect(read(`schedule: { cron: ${cron}, blackout: ${blackout} }`, calendars)).toEqual({
      policies: [],
      findings: [always],
      warnings: [],
    });
  });

  test.each([
    ['"0 2 * * *"', '[monday, tuesday, wednesday, thursday, friday, saturday]'],
    [
      '"* * * * *"',
      `[${new Date().toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' }).toLowerCase()}]`,
    ],
    ['["0 2 * * 6", "0 4 * * 1"]', '[saturday, sunday]'],
    ['"0 2 1 * *"', '[saturday, sunday]'],
  ])('cron %s with blackout %s has days left', (cron, blackout) => {
    expect(read(`schedule: { cron: ${cron}, blackout: ${blackout} }`)).toMatchObject({
      findings: [],
      warnings: [],
    });
  });

  test('by dates that end some day is a warning, since it fires afterwards', () => {
    const blackout = `[{ from: ${day(-1)}, to: ${day(100)} }]`;
    expect(read(`schedule: { cron: "0 2 * * *", blackout: ${blackout} }`)).toEqual({
      policies: ['p'],
      findings: [],
      warnings: [expect.stringMatching(/^The policy never fires until \d{4}-\d\d-\d\d: every time/)],
    });
  });
});

test('a limit above max_targets is a warning: a plan that large stops the run', () => {
  expect(read('select: { limit: 500 }\nlimits: { max_targets: 100 }')).toEqual({
    policies: ['p'],
    findings: [],
    warnings: [
      'The limit of 500 is above limits.max_targets (100): a plan of more than 100 targets stops the run, so the limit never applies. set max_targets to 500 or more, or reduce the limit',
    ],
  });
  expect(read('select: { limit: 1500 }').warnings).toHaveLength(1);
  expect(read('select: { limit: 100 }\nlimits: { max_targets: 100 }').warnings).toEqual([]);
});

test('a policy with errors in its schedule or limits is judged as far as it can be read', () => {
  expect(
    read(
      'schedule: { corn: "0 2 * * *", blackout: [monday] }\nselect: { limit: 5 }\nlimits: { max_targets: x }',
    ).findings,
  ).toHaveLength(2);
});

describe('a schedule whose times are all blacked out and move to workdays', () => {
  const blackedOut = (cron: string, days: string, onBlackout: string) =>
    read(`schedule: { cron: "${cron}", blackout: [${days}], on_blackout: ${onBlackout} }`);

  test('fires, so nothing is said', () => {
    for (const moves of ['next_workday', 'previous_workday'])
      expect(blackedOut('0 2 * * 6', 'saturday', moves)).toMatchObject({ findings: [], warnings: [] });
  });

  test('never fires when no weekday is left', () => {
    const days = 'monday, tuesday, wednesday, thursday, friday';
    expect(blackedOut('0 2 * * 1-5', days, 'next_workday').findings).toEqual([
      expect.stringMatching(/^The policy never fires: every time/),
    ]);
  });

  test('is a warning while the blackout goes on for weeks', () => {
    const range = `{ from: ${day(-3)}, to: ${day(80)} }`;
    for (const moves of ['next_workday', 'previous_workday'])
      expect(blackedOut('0 2 * * *', range, moves).warnings).toEqual([
        expect.stringMatching(/^The policy never fires until/),
      ]);
  });
});

test.each([
  ['deadline', '4h'],
  ['window', '{ until: "05:00" }'],
])('%s without a schedule is a warning', (key, value) => {
  const warningsWith = (more: string) =>
    readPolicies(policyWith(`${key}: ${value}\n${more}`)).warnings.map(({ line, message }) => [
      line,
      message,
    ]);
  const message = `"${key}" has no effect, because only scheduled runs have one, and the policy has no schedule.`;
  expect(warningsWith('')).toEqual([[4, message]]);
  expect(warningsWith('schedule: { cron: "0 2 * * *" }')).toEqual([]);
});
