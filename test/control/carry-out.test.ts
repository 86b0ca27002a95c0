/** Commands over real records: roles, the audit log, and acts with an idempotency key. */
import { beforeEach, expect, test } from 'vitest';
import { openAudit } from '../../src/control/audit.ts';
import { answerOnce, carryOut } from '../../src/control/carry-out.ts';
import { beginFreeze, endFreeze } from '../../src/control/commands/freeze.ts';
import { pausePolicy } from '../../src/control/commands/pause-policy.ts';
import { runPolicy } from '../../src/control/commands/run-policy.ts';
import { aPolicy } from '../support/builders.ts';
import type { World } from '../support/caretaker.ts';
import { worldOfTest } from '../support/world-of-test.ts';
import { actor, auditLines, operator, viewer } from './acting.ts';

let world: World;
beforeEach(async () => {
  // A request waits a while for an equal one, on the clock of the world.
  world = await worldOfTest({ sites: 1, work: false, speedUp: 1 });
});

const policy = aPolicy({ name: 'sync', job: 'site-sync' });
const depsOf = ({ caretaker }: World) => ({
  ...caretaker,
  policy: (name: string) => (name === policy.name ? policy : undefined),
  needAccount: () => undefined,
});
const lines = () => auditLines(world);

test('an act has a line before it is carried out and a line with its result', async () => {
  const run = await carryOut(
    runPolicy,
    depsOf(world),
    { policy: 'sync', targets: ['a', 'b'], reason: 'the client called' },
    operator,
  );

  expect(run).toMatchObject({ policy: 'sync', trigger: 'manual', startedBy: { kind: 'user', name: 'anna' } });
  const [requested, done, ...others] = await lines();
  expect(others).toEqual([]);
  const act = {
    who: { kind: 'user', name: 'anna' },
    from: '192.0.2.1',
    what: 'policies.run',
    policy: 'sync',
    account: 'default',
    targets: 2,
    why: 'the client called',
  };
  expect(requested).toEqual({ ...act, act: requested?.act, at: expect.any(Number), result: 'requested' });
  expect(done).toEqual({ ...act, act: requested?.act, at: expect.any(Number), result: 'done', run: run.id });
});

test('an act that the role does not permit is not carried out, and has a line', async () => {
  const elsewhere = actor([{ role: 'operator', policies: ['other'] }]);
  for (const by of [viewer, elsewhere])
    await expect(carryOut(pausePolicy, depsOf(world), { policy: 'sync' }, by)).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'anna may not do this (policies.pause): it needs the role operator for the policy sync.',
    });

  expect((await world.caretaker.records.policies.state('sync')).pause).toBeUndefined();
  expect(await lines()).toMatchObject([
    { result: 'refused', code: 'FORBIDDEN', policy: 'sync' },
    { result: 'refused', code: 'FORBIDDEN', policy: 'sync' },
  ]);
});

test('a role that is limited to an account cannot freeze everything', async () => {
  const limited = actor([{ role: 'operator', accounts: ['default'] }]);
  const deps = depsOf(world);
  await expect(carryOut(beginFreeze, deps, { until: '1h' }, limited)).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
  const { freeze } = await carryOut(beginFreeze, deps, { until: '1h', account: 'default' }, limited);
  await carryOut(endFreeze, deps, { freeze: freeze.id ?? '' }, limited);
  expect(await world.caretaker.records.freeze.active(world.clock.now())).toEqual([]);
});

test('secrets in a reason are hidden, and the reason is cut', async () => {
  const reason = `token: ${'s3cr3t'.repeat(4)} because`;
  await carryOut(pausePolicy, depsOf(world), { policy: 'sync', reason }, operator);
  expect(JSON.stringify(await lines())).not.toContain('s3cr3t');
});

test('an unknown field of the input is refused, and nothing is recorded', async () => {
  const input = { policy: 'sync', target: ['a'] } as { policy: string };
  await expect(carryOut(runPolicy, depsOf(world), input, operator)).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    message: expect.stringContaining('target'),
  });
  expect(await lines()).toEqual([]);
});

test('20 equal requests at once with the same key make one run, and get the same answer', async () => {
  const deps = depsOf(world);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => answerOnce(runPolicy, deps, { policy: 'sync' }, operator, 'key-1')),
  );

  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(await world.caretaker.records.runs.list({ limit: 10 })).toHaveLength(1);
  expect((await lines()).map(({ result }) => result)).toEqual(['requested', 'done']);
});

test('a key belongs to one request of one principal', async () => {
  const deps = depsOf(world);
  await answerOnce(pausePolicy, deps, { policy: 'sync' }, operator, 'key-1');
  await expect(
    answerOnce(pausePolicy, deps, { policy: 'sync', reason: 'other' }, operator, 'key-1'),
  ).rejects.toMatchObject({ code: 'KEY_REUSED' });
  const berta = actor([{ role: 'operator' }], 'berta');
  await expect(
    answerOnce(pausePolicy, deps, { policy: 'sync', reason: 'other' }, berta, 'key-1'),
  ).resolves.toMatchObject({ by: 'berta' });
});

test('a repetition is refused once the role is taken away', async () => {
  const deps = depsOf(world);
  await answerOnce(pausePolicy, deps, { policy: 'sync' }, operator, 'key-1');
  await expect(answerOnce(pausePolicy, deps, { policy: 'sync' }, viewer, 'key-1')).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
});

test('lines of the audit log expire after the retention period', async () => {
  const { records, clock, log } = world.caretaker;
  const audit = openAudit({ records, clock, keptMs: 3_600_000, log });
  const event = { result: 'done', who: { kind: 'daemon', name: 'caretaker' }, from: 'here' } as const;
  await audit.note({ ...event, what: 'first' });
  world.clock.leap(2 * 3_600_000);
  await audit.note({ ...event, what: 'second' });
  expect((await lines()).map(({ what }) => what)).toEqual(['second']);
  expect(await world.caretaker.redis.store.pttl('{caretaker}:audit')).toBeGreaterThan(0);
});
