/**
 * Findings compared from run to run, with a real Redis: new, continuing and resolved are each reported once.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { findingsIn } from '../../src/engine/compare-findings.ts';
import type { EngineDeps } from '../../src/engine/deps.ts';
import { finishIfDone } from '../../src/engine/finish-run.ts';
import type { AnyJob } from '../../src/job/job.ts';
import { createRegistry } from '../../src/job/registry.ts';
import { openRecords } from '../../src/records/records.ts';
import { toSummary } from '../../src/run/report.ts';
import type { Finding, Run, Target } from '../../src/run/run.ts';
import { around } from '../support/between.ts';
import { aPolicy, aRun, aTarget } from '../support/builders.ts';
import { heldClock, NOON } from '../support/held-clock.ts';
import { keptLog } from '../support/quiet.ts';
import { redisOfFile } from '../support/redis-of-file.ts';

const { redis } = await redisOfFile();
beforeEach(() => redis.flushall());

/** A process that ends runs, and the runs it reported. */
function aProcess({ comparesInfo }: { comparesInfo?: true } = {}) {
  const records = openRecords(redis);
  const job = {
    name: 'site-sync',
    summary: '',
    reasons: { found: { text: 'It was found.' } },
    ...(comparesInfo ? { comparesInfo } : {}),
  } as unknown as AnyJob;
  const deps = {
    records,
    registry: createRegistry([job]),
    clock: heldClock(),
    log: keptLog(),
  } as unknown as EngineDeps;
  return { records, deps };
}

/** A target that ended with these findings, each with the same subject as in other runs. */
const ending = (id: string, messages: string[] = [], changes: Partial<Target> = {}): Target =>
  aTarget(id, {
    state: 'ended',
    ...(messages.length > 0 ? { outcome: 'failed', reason: 'found' } : {}),
    ...(messages.length > 0 ? { findings: messages.map(finding) } : {}),
    ...changes,
  } as Parameters<typeof aTarget>[1]);

const finding = (message: string): Finding => ({ severity: 'warning', about: 'backup', message });

let started = NOON;

/** An active run whose targets have all ended. */
async function planned(targets: Target[], changes: Partial<Run> = {}, only: string[] = []): Promise<Run> {
  const { records } = aProcess();
  started += 60_000;
  const run = aRun({ job: 'site-sync', ...changes });
  await records.runs.create(run, { concurrency: 5, targetMs: 60_000 }, { only });
  await records.runs.move(run, 'planning', { at: changes.startedAt ?? started });
  const fence = await records.plans.begin(run.id);
  for (let at = 0; at < targets.length; at += 100)
    await records.plans.add(run.id, fence, targets.slice(at, at + 100));
  await records.runs.move(run, 'running', { at: started, planComplete: true });
  if (changes.ending) await records.runs.end(run, changes.ending, 'It was ended.');
  return run;
}

/** Ends a run, and gives how its findings changed. */
async function endOf({ id }: Run, { deps, records } = aProcess()) {
  await finishIfDone(deps, id);
  return changesOf(await records.runs.get(id));
}

/** The same as `planned`, ended. */
const ended = async (...given: Parameters<typeof planned>) => endOf(await planned(...given));

function changesOf(run: Run | undefined) {
  const { findings } = toSummary(run as Run);
  if (!findings) return undefined;
  const { open, new: added, resolved, first_new, first_resolved } = findings;
  const named = (list: typeof first_new) => list.map(({ target, message }) => `${target}: ${message}`);
  return {
    open,
    new: added,
    resolved,
    ...(added > 0 ? { firstNew: named(first_new) } : {}),
    ...(resolved > 0 ? { firstResolved: named(first_resolved) } : {}),
  };
}

/** The stored findings of the policy. */
async function known() {
  const all: string[] = [];
  for await (const page of openRecords(redis).findings.pages('agency', 'nightly'))
    all.push(...page.map(({ target, message }) => `${target}: ${message}`));
  return all.sort();
}

test('a finding is new once, continues as long as it is found, and is resolved once', async () => {
  expect(await ended([ending('a', ['3 days']), ending('b')])).toEqual({
    open: 1,
    new: 1,
    resolved: 0,
    firstNew: ['a: 3 days'],
  });
  expect(await ended([ending('a', ['4 days']), ending('b')])).toEqual({ open: 1, new: 0, resolved: 0 });
  expect(await ended([ending('a'), ending('b')])).toEqual({
    open: 0,
    new: 0,
    resolved: 1,
    firstResolved: ['a: 4 days'],
  });
  expect(await ended([ending('a'), ending('b')])).toBeUndefined();
  expect(await known()).toEqual([]);
});

test('a finding exists since the start of the first run that found it', async () => {
  const first = await planned([ending('a', ['x'])]);
  await endOf(first);
  await ended([ending('a', ['x'])]);
  const last = await planned([]);
  await endOf(last);

  const { runs } = openRecords(redis);
  const begun = (await runs.get(first.id))?.startedAt;
  expect((await runs.get(last.id))?.findings?.firstResolved?.[0]?.since).toBe(begun);
});

test('a target that no longer exists has no findings after a run over the whole selection', async () => {
  await ended([ending('a', ['x']), ending('b', ['y'])]);
  expect(await ended([ending('b', ['y'])])).toMatchObject({ resolved: 1, firstResolved: ['a: x'] });
});

describe('nothing is resolved', () => {
  beforeEach(async () => {
    await ended([ending('a', ['x']), ending('b', ['y'])]);
  });

  test.each([
    ['the service did not show what decides', { outcome: 'skipped', reason: 'not-eligible' }],
    ['its time was over', { outcome: 'failed', reason: 'timeout' }],
    ['the service was not there', { outcome: 'failed', reason: 'unavailable' }],
    ['it was cancelled', { outcome: 'cancelled', reason: 'run-cancelled' }],
  ] as const)('on a target where %s', async (_, changes) => {
    const { resolved } = (await ended([ending('a', [], changes), ending('b', ['y'])])) ?? {};
    expect(resolved).toBe(0);
    expect(await known()).toEqual(['a: x', 'b: y']);
  });

  test.each(['cancelled', 'safety-limit'] as const)('by a run that ends as %s', async (cause) => {
    await ended([ending('a')], { ending: cause });
    expect(await known()).toEqual(['a: x', 'b: y']);
  });

  test('on targets that a run over other targets did not check', async () => {
    expect(await ended([ending('a')], {}, ['a'])).toMatchObject({ resolved: 1, firstResolved: ['a: x'] });
    expect(await known()).toEqual(['b: y']);
  });

  test('on targets beyond the limit of the selection', async () => {
    const policyJson = JSON.stringify(aPolicy({ name: 'nightly', select: { filters: {}, limit: 1 } }));
    await ended([ending('a')], { policyJson, plan: { requests: 1, targets: 1 } });
    expect(await known()).toEqual(['b: y']);
  });

  test('by a run that could not be planned', async () => {
    const { records, deps } = aProcess();
    const run = aRun({ job: 'site-sync' });
    await records.runs.create(run, { concurrency: 5, targetMs: 60_000 });
    started += 60_000;
    await records.runs.move(run, 'planning', { at: started });
    await records.runs.move(run, 'failed', { at: started });
    await finishIfDone(deps, run.id);
    expect(await known()).toEqual(['a: x', 'b: y']);
  });

  test('by an earlier run that ends later, which adds no old findings either', async () => {
    const before = started - 30_000;
    expect(await ended([ending('c', ['z'])], { startedAt: before })).toBeUndefined();
    expect(await known()).toEqual(['a: x', 'b: y']);
  });
});

describe('another policy learns of a policy', () => {
  const checked = async () => findingsIn(openRecords(redis), 'agency')('nightly');

  test('that it has never looked', async () => {
    expect(await checked()).toEqual({ unknown: new Set(), open: [] });
  });

  test('when its last whole run began, also one that found nothing, and what it could not see', async () => {
    await ended([ending('site-1'), ending('site-2', [], { outcome: 'failed', reason: 'unavailable' })]);
    const at = started;
    await ended([ending('site-3')], {}, ['site-3']);
    await ended([ending('site-1')], { ending: 'cancelled' });
    expect(await checked()).toEqual({ at, unknown: new Set(['site-2']), open: [] });
  });

  test('what is open, and a late end of an older run does not bring back what a clean run did not see', async () => {
    const late = await planned([ending('site-1', ['old'])]);
    await ended([ending('site-1')]);
    expect(await endOf(late)).toBeUndefined();
    expect((await checked()).open).toEqual([]);
  });
});

test('remarks of severity info are not compared from run to run unless the job asks for it', async () => {
  const remark: Finding = { severity: 'info', about: 'schedule', message: 'Active.' };
  const target = () => ending('a', [], { findings: [remark] });
  expect(await ended([target()])).toBeUndefined();

  const comparing = aProcess({ comparesInfo: true });
  expect(await endOf(await planned([target()]), comparing)).toMatchObject({ open: 1, new: 1 });
});

test('several findings with the same subject count as one, with the highest severity', async () => {
  const lines: Finding[] = [
    finding('mild'),
    { ...finding('severe'), severity: 'error' },
    finding('mild too'),
  ];
  expect(await ended([ending('a', ['x'], { findings: lines })])).toEqual({
    open: 1,
    new: 1,
    resolved: 0,
    firstNew: ['a: severe'],
  });
});

test('more findings than a page has are counted, and ten of them are listed', async () => {
  const many = Array.from({ length: 1_100 }, (_, at) => ending(`site-${at}`, ['x']));
  const first = await ended(many);
  expect(first).toMatchObject({ open: 1_100, new: 1_100, resolved: 0 });
  expect(first?.firstNew).toHaveLength(10);
  const second = await ended([]);
  expect(second).toMatchObject({ open: 0, new: 0, resolved: 1_100 });
  expect(second?.firstResolved).toHaveLength(10);
});

describe('when a process dies while it ends a run', () => {
  const many = (message: string) => Array.from({ length: 1_200 }, (_, at) => ending(`site-${at}`, [message]));

  /** Every write at the end of a run: the store, the method, and the number of the call. */
  test.each([
    ['before the first page of findings', 'findings', 'note', 1, 'before'],
    ['after the first page of findings', 'findings', 'note', 1, 'after'],
    ['after the last page of findings', 'findings', 'note', 3, 'after'],
    ['before findings are resolved', 'findings', 'resolve', 1, 'before'],
    ['after some are resolved', 'findings', 'resolve', 1, 'after'],
    ['before the run is moved to its end', 'runs', 'move', 1, 'before'],
  ] as const)(
    '%s, the process that ends it again gets the same result, once',
    async (_, store, method, nth, when) => {
      await ended([...many('old').slice(0, 600), ending('gone', ['gone'])]);
      const notify = [{ on: ['findings'], to: 'ops' }];
      const policyJson = JSON.stringify(aPolicy({ name: 'nightly', notify }));
      const run = await planned(many('x'), { policyJson });
      const dying = aProcess();
      let calls = 0;
      around(
        dying.records[store] as never,
        method as never,
        (async (call: () => Promise<unknown>) => {
          calls += 1;
          if (calls > nth) return new Promise(() => undefined);
          if (calls === nth && when === 'before') throw new Error('killed');
          const result = await call();
          if (calls === nth) throw new Error('killed');
          return result;
        }) as never,
      );
      await expect(finishIfDone(dying.deps, run.id)).rejects.toThrow('killed');
      expect(await dying.records.notices.open(10)).toEqual([]);

      const [other, third] = [aProcess(), aProcess()];
      await Promise.all([finishIfDone(other.deps, run.id), finishIfDone(third.deps, run.id)]);

      expect(await other.records.notices.open(10)).toMatchObject([
        { notice: { type: 'run', run: run.id, status: 'failed' } },
      ]);
      expect(changesOf(await other.records.runs.get(run.id))).toMatchObject({
        open: 1_200,
        new: 600,
        resolved: 1,
        firstResolved: ['gone: gone'],
      });
      expect(await known()).toHaveLength(1_200);
    },
  );
});
