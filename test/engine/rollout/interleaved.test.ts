/**
 * Several supervisors of one run at the same time, each with random pauses between its commands to Redis, while a person
 * approves, rejects, skips, resumes and cancels at random moments.
 *
 * CARETAKER_PROPERTY_RUNS sets how many times a set of runs is tried; fast-check prints the seed of a failure.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { localPrincipal } from '../../../src/access/principal.ts';
import type { Caretaker } from '../../../src/app/caretaker.ts';
import { CaretakerError } from '../../../src/errors.ts';
import { isFinal } from '../../../src/run/moves.ts';
import type { Run, Target } from '../../../src/run/run.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { anApproval, aRollout, notedBy, noting, runOf } from '../../support/rollout-cuts.ts';
import { sampleOf } from '../../support/sample.ts';
import { superviseOnce } from '../../support/supervise.ts';

const RUNS = Number(process.env['CARETAKER_PROPERTY_RUNS'] ?? sampleOf(1, 6));
const AT_ONCE = 6;
const SECOND_MS = 1_000;
const anna = localPrincipal('anna');

const acts = ['approve', 'reject', 'skipPause', 'resume', 'cancel'] as const;
const anAct = fc.record({
  act: fc.constantFrom(...acts, 'approve', 'approve', 'skipPause', 'resume'),
  of: fc.constantFrom('whole', 'batch', 'targets'),
  batch: fc.integer({ min: 1, max: 3 }),
  targets: fc.uniqueArray(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 3 }),
  /** In real milliseconds. */
  after: fc.integer({ min: 0, max: 150 }),
});
const aCase = fc.record({
  supervisors: fc.integer({ min: 2, max: 4 }),
  approval: fc.boolean(),
  eachBatch: fc.boolean(),
  expiresMs: fc.constantFrom(30 * SECOND_MS, 3_000 * SECOND_MS),
  pauseMs: fc.constantFrom(0, 20 * SECOND_MS),
  isHealthy: fc.boolean(),
  waitWhenClosedMs: fc.constantFrom(0, 40 * SECOND_MS),
  people: fc.array(fc.array(anAct, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 2 }),
});
type Case = typeof aCase extends fc.Arbitrary<infer T> ? T : never;
type Act = Case['people'][number][number];

let world: World;
const supervisors: Caretaker[] = [];
const endings = new Map<string, number>();
let cases = 0;
beforeAll(async () => {
  world = await startWorld({ before: quickSyncs, sites: 6, speedUp: 60 });
  for (let at = 0; at < 4; at += 1) {
    const one = await world.another({ work: false });
    pauseAtRandom(one, at);
    supervisors.push(one);
  }
  await world.caretaker.records.listen((event) => {
    if (event.type === 'run.moved' && isFinal(event.status as Run['status']))
      endings.set(event.run, (endings.get(event.run) ?? 0) + 1);
  });
});
afterAll(() => world.stop());

/** Pauses before some of its commands, so that others come in between. */
function pauseAtRandom({ redis: { store } }: Caretaker, seed: number): void {
  let state = seed + 1;
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const connection = store as unknown as { sendCommand(...given: unknown[]): Promise<unknown> };
  const send = connection.sendCommand.bind(connection);
  connection.sendCommand = async (command, stream) => {
    // The commands of a pipeline stay together.
    if (stream === undefined && random() < 0.3)
      await new Promise((done) => setTimeout(done, random() < 0.1 ? 40 : random() * 4));
    return send(command, stream);
  };
}

interface Told {
  act: Act['act'];
  of: Act['of'];
  ids: readonly string[];
}

/** The acts of a person that were carried out; those that were refused changed nothing. */
async function play(run: Run, ids: readonly string[], list: readonly Act[], who: Caretaker): Promise<Told[]> {
  const told: Told[] = [];
  for (const { act, of, batch, targets, after } of list) {
    await new Promise((done) => setTimeout(done, after));
    const chosen = targets.map((at) => ids[at] ?? '');
    const parts = { whole: {}, batch: { batch }, targets: { targets: chosen } };
    try {
      await carryOut(who, run, act, parts[of]);
      told.push({ act, of, ids: of === 'targets' ? chosen : [] });
    } catch (error) {
      if (!(error instanceof CaretakerError)) throw error;
    }
  }
  return told;
}

async function carryOut({ engine }: Caretaker, { id }: Run, act: Act['act'], part: object): Promise<void> {
  const by = { by: anna };
  if (act === 'approve') return engine.approve(id, { ...by, ...part });
  if (act === 'reject') return engine.reject(id, { ...by, ...part });
  if (act === 'skipPause') return engine.skipPause(id, by);
  if (act === 'cancel') return engine.cancel(id);
  // A run that was stopped is not started again here.
  if (!isFinal((await runOf(world, id)).status)) await engine.resume(id, by);
}

async function tell(one: Case): Promise<void> {
  const { approval, eachBatch, expiresMs, pauseMs, isHealthy, waitWhenClosedMs } = one;
  cases += 1;
  const policy = noting(`case-${cases}`, {
    rollout: aRollout({
      batches: [{ count: 2 }, { percent: 30 }],
      pauseMs,
      waitWhenClosedMs,
      healthy: isHealthy ? 'site.url != ""' : 'site.url == "nowhere"',
    }),
    ...(approval ? { approval: anApproval({ expiresMs, ...(eachBatch && { eachBatch }) }) } : {}),
  });
  const fired = await world.fire(policy);
  const run = await world.ended(fired, ({ planComplete }) => planComplete === true);
  const ids = (await world.targets(run)).map(({ id }) => id);
  let isOver = false;
  const working = supervisors.slice(0, one.supervisors).map(async (caretaker) => {
    while (!isOver) {
      await superviseOnce(caretaker, run.id);
      await new Promise((done) => setTimeout(done, 10));
    }
  });
  const told = (
    await Promise.all(one.people.map((list, at) => play(run, ids, list, supervisors[at] ?? world.caretaker)))
  ).flat();
  // A run that waits for a person now is cancelled, so that each run ends.
  const isStuck = ({ status, rollout }: Run) =>
    (status === 'awaiting-approval' && expiresMs > 1_000 * SECOND_MS) ||
    isFinal(status) ||
    rollout === undefined;
  const found = await world.ended(run, isStuck);
  if (!isFinal(found.status)) await world.caretaker.engine.cancel(run.id).catch(() => undefined);
  const end = await world.ended(run);
  isOver = true;
  await Promise.all(working);
  judge(end, await world.targets(run), told);
}

function judge(run: Run, targets: readonly Target[], told: readonly Told[]): void {
  const { counts, approvals = [] } = run;
  const noted = notedBy(world, run.policy);
  const about = JSON.stringify({ run, told });
  expect(new Set(noted).size, `no site is worked on twice: ${about}`).toBe(noted.length);
  expect(noted, about).toEqual(
    targets
      .filter(({ reason }) => reason === 'done')
      .map(({ id }) => id)
      .sort(),
  );
  expect(endings.get(run.id), `it ends once: ${about}`).toBe(1);
  const { planned, ...ended } = counts;
  expect(Object.values(ended).reduce((sum, count) => sum + count)).toBe(planned);
  for (const [outcome, count] of Object.entries(ended))
    expect(
      targets.filter((target) => target.outcome === outcome),
      about,
    ).toHaveLength(count);

  const started = targets.filter(({ startedAt }) => startedAt !== undefined);
  for (const target of started) judgeStarted(target, run, targets, about);
  for (const { decided, expires } of approvals) {
    if (decided?.is === 'approved') expect(decided.at, about).toBeLessThan(expires);
    if (decided && decided.is !== 'approved') expect(run.status, about).toBe('cancelled');
    if (decided?.is === 'expired')
      expect(
        started.filter(({ startedAt = 0 }) => startedAt > decided.at),
        about,
      ).toEqual([]);
  }
  const approved = approvals.filter(({ decided }) => decided?.is === 'approved');
  const answered = told.filter(({ act }) => act === 'approve');
  expect(approved, `each approval that was answered is there: ${about}`).toHaveLength(answered.length);
  const rejected = told.filter(({ act }) => act === 'reject');
  if (rejected.some(({ of }) => of === 'whole')) expect(run.ending, about).toBe('not-approved');
  for (const id of rejected.flatMap(({ ids }) => ids)) expect(noted, about).not.toContain(id);
}

/** Its batch began before it, after the one before, whose gate had opened or was passed; and it was approved. */
function judgeStarted(
  { batch = 0, startedAt = 0, id }: Target,
  { rollout, approvals = [] }: Run,
  targets: readonly Target[],
  about: string,
): void {
  const { begunAt = Number.POSITIVE_INFINITY } = rollout?.batches[batch - 1] ?? {};
  expect(startedAt, `${id} begins with its batch: ${about}`).toBeGreaterThanOrEqual(begunAt);
  for (const { finishedAt = Number.POSITIVE_INFINITY } of targets.filter((one) => one.batch === batch - 1))
    expect(begunAt, `batches are in order: ${about}`).toBeGreaterThanOrEqual(finishedAt);
  const before = rollout?.batches[batch - 2];
  const isPassedOver = before === undefined || before.begunAt === before.endedAt;
  const opened = before?.gate?.is === 'open' ? before.gate.at : before?.resumed?.at;
  if (!isPassedOver) expect(opened, `its gate held or was passed: ${about}`).toBeLessThanOrEqual(begunAt);
  if (approvals.length === 0) return;
  const upTo = approvals.map(({ decided }) => (decided?.is === 'approved' ? (decided.upTo ?? 0) : 0));
  expect(batch, `it was approved: ${about}`).toBeLessThanOrEqual(Math.max(...upTo));
}

test('whatever supervisors and people do at the same time, batches begin in order, once, and only approved', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aCase, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (list) => {
      await Promise.all(list.map(tell));
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
});
