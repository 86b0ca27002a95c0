/** Acknowledged findings are listed with who knows of them, and do not count until their time or until they come back. */
import { beforeEach, expect, test } from 'vitest';
import { carryOut } from '../../src/control/carry-out.ts';
import {
  acknowledgeFindings,
  unacknowledgeFindings,
} from '../../src/control/commands/acknowledge-findings.ts';
import { listFindingsCommand } from '../../src/control/commands/list-findings.ts';
import { findingGroups, newUnacknowledged, unacknowledged } from '../../src/control/findings.ts';
import type { FindingState } from '../../src/records/filter-values.ts';
import type { KnownFinding } from '../../src/records/finding-indexes.ts';
import { openRecords } from '../../src/records/records.ts';
import { findIn } from '../support/findings.ts';
import { heldClock, NOON } from '../support/held-clock.ts';
import { redisOfFile } from '../support/redis-of-file.ts';
import { operator, viewer } from './acting.ts';

const DAY = 86_400_000;
const audit = {
  write: async () => undefined,
  writeResult: async () => undefined,
  refuse: async () => undefined,
};

const { redis } = await redisOfFile();
const records = openRecords(redis);
const POLICY = { policy: 'stale-backups' };
let clock: ReturnType<typeof heldClock>;
beforeEach(async () => {
  await redis.flushall();
  clock = heldClock();
});
const deps = () => ({ records, clock, audit: audit as never });
const acknowledge = (input: object) =>
  carryOut(acknowledgeFindings, deps(), { ...POLICY, site: 'a', reason: 'known', ...input }, operator);
const unacknowledge = () => carryOut(unacknowledgeFindings, deps(), { ...POLICY, site: 'a' }, operator);
async function list(state?: FindingState) {
  const { findings } = await carryOut(listFindingsCommand, deps(), { state }, operator);
  return findings.map((one) => `${one.target} ${one.about} ${one.state}`);
}
async function counts() {
  const [errors] = await findingGroups(records, {}, clock.now(), () => true);
  return errors && { counted: unacknowledged(errors), new: newUnacknowledged(errors) };
}

const find = (at: number, ...targets: string[]) =>
  findIn(records, { at, found: targets.map((target) => ({ target })) });

test('an acknowledged finding is listed with who and why, and is counted no more', async () => {
  await find(NOON - 1_000, 'a', 'b');
  expect(await counts()).toEqual({ counted: 2, new: 2 });

  expect(await acknowledge({ until: '7d' })).toMatchObject([
    {
      target: 'a',
      state: 'acknowledged',
      acknowledged: { by: 'anna', reason: 'known', until: NOON + 7 * DAY },
    },
  ]);

  expect((await list()).sort()).toEqual(['a backup acknowledged', 'b backup new']);
  expect(await list('new')).toEqual(['b backup new']);
  expect(await list('acknowledged')).toEqual(['a backup acknowledged']);
  expect(await counts()).toEqual({ counted: 1, new: 1 });
});

test('after its time it counts again, and so it does when somebody ends it', async () => {
  await find(NOON - 2 * DAY, 'a');
  await acknowledge({ until: '7d' });
  expect(await counts()).toEqual({ counted: 0, new: 0 });
  await clock.advance(7 * DAY);
  expect(await counts()).toEqual({ counted: 1, new: 0 });
  expect(await list()).toEqual(['a backup open']);

  await acknowledge({});
  await clock.advance(90 * DAY);
  expect(await counts()).toEqual({ counted: 0, new: 0 });
  expect(await unacknowledge()).toMatchObject([{ state: 'open' }]);
  expect(await counts()).toEqual({ counted: 1, new: 0 });
});

test('a finding that is resolved and comes back is not acknowledged, and one that is still there is', async () => {
  await find(NOON - 3 * DAY, 'a', 'b');
  await acknowledge({});
  await acknowledge({ site: 'b' });
  await find(NOON - 2 * DAY, 'b');
  expect(await list('acknowledged')).toEqual(['b backup acknowledged']);
  await find(NOON - DAY - 1, 'a', 'b');

  expect((await list()).sort()).toEqual(['a backup open', 'b backup acknowledged']);
});

test('one of several findings on a site is acknowledged by what it is about', async () => {
  const found = ['backup', 'core'].map((about) => ({ target: 'a', about }));
  await findIn(records, { at: NOON - 1_000, found });
  await acknowledge({ about: 'core' });
  expect((await list()).sort()).toEqual(['a backup new', 'a core acknowledged']);
  await acknowledge({});
  expect(await list('new')).toEqual([]);
});

test('several findings are acknowledged at once, and those that are resolved meanwhile are left out', async () => {
  await find(NOON - 1_000, 'a', 'b', 'c');
  const of = (...targets: string[]) => ({
    site: undefined,
    findings: targets.map((target) => ({ target, about: 'backup' })),
  });

  expect((await acknowledge(of('a', 'gone', 'c'))).map(({ target }) => target)).toEqual(['a', 'c']);
  expect(await list('new')).toEqual(['b backup new']);
  await expect(acknowledge(of('gone'))).rejects.toThrow(
    'None of these findings of stale-backups in the account default is open any more.',
  );
  for (const wrong of [{ site: undefined }, { findings: [{ target: 'b', about: 'backup' }] }])
    await expect(acknowledge(wrong)).rejects.toThrow('Either a site is needed, or a list of findings.');
});

test('what is not there, has no reason or is beyond the role is refused', async () => {
  await find(NOON - 1_000, 'a');
  await expect(acknowledge({ site: 'x' })).rejects.toThrow(
    'The policy stale-backups has no open finding on x in the account default. "caretaker findings" lists them.',
  );
  await expect(acknowledge({ about: 'core' })).rejects.toThrow('no open finding about "core"');
  await expect(acknowledge({ reason: ' ' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  await expect(acknowledge({ until: '2020-01-01T00:00:00Z' })).rejects.toThrow('must be in the future');
  const input = { ...POLICY, site: 'a', reason: 'known' };
  await expect(carryOut(acknowledgeFindings, deps(), input, viewer)).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
});

test('acknowledgements of findings that were resolved are forgotten', async () => {
  await find(NOON - 3 * DAY, 'a', 'b');
  await acknowledge({});
  await find(NOON - 2 * DAY, 'b');
  await acknowledge({ site: 'b' });
  expect(await redis.hkeys('{caretaker}:acknowledged:default:stale-backups')).toEqual(['b\nbackup']);
});

test('a policy has at most 1,000 acknowledged findings, and those that ended make room', async () => {
  const found = Array.from({ length: 1_000 }, (_, i) => ({ target: 'a', about: `plugin ${i}` }));
  await findIn(records, { at: NOON - 1_000, found: [...found, { target: 'b' }] });
  const of = { account: 'default', policy: 'stale-backups' };
  const all: KnownFinding[] = [];
  for await (const page of records.findings.pages('default', 'stale-backups'))
    all.push(...page.filter(({ target }) => target === 'a'));
  await records.acknowledgements.add(
    of,
    all,
    { at: NOON, by: 'anna', reason: 'known', until: NOON + DAY },
    new Map(),
  );

  await expect(acknowledge({ site: 'b' })).rejects.toMatchObject({ code: 'TOO_MANY_ACKNOWLEDGED' });
  await clock.advance(DAY);
  expect(await acknowledge({ site: 'b' })).toHaveLength(1);
  expect(await redis.hlen('{caretaker}:acknowledged:default:stale-backups')).toBe(1);
  expect(await redis.pttl('{caretaker}:acknowledged:default:stale-backups')).toBeGreaterThan(0);
});
