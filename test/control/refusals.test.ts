/** What the audit log shows of acts that were not carried out: refused, or failed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAudit } from '../../src/control/audit.ts';
import { carryOut } from '../../src/control/carry-out.ts';
import { backfillPolicy } from '../../src/control/commands/backfill.ts';
import { cancelRun } from '../../src/control/commands/change-run.ts';
import { pausePolicy } from '../../src/control/commands/pause-policy.ts';
import { commands } from '../../src/control/commands.ts';
import { FrozenError } from '../../src/engine/fire.ts';
import type { AuditLine } from '../../src/records/audit-store.ts';
import { announcementOf } from '../support/announcement-of.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { savePlanOf } from '../support/saved-plans.ts';
import { actor, admin, auditLines, operator } from './acting.ts';

let world: World;
let ended: string;
let plan: object;
let unwritten: string;
beforeAll(async () => {
  world = await startWorld({ sites: 1, work: false });
  plan = { ...(await savePlanOf(world, policy)) };
  const { id } = await world.caretaker.engine.fire(policy, { trigger: 'manual', scheduledFor: 0 });
  await world.caretaker.engine.cancel(id);
  ended = id;
  unwritten = await announcementOf(world.caretaker.records, 'sync');
});
afterAll(() => world.stop());

const policy = aPolicy({ name: 'sync', job: 'site-sync' });
const nightly = aPolicy({ name: 'nightly', job: 'site-sync', schedule: aSchedule({ cron: ['0 1 * * *'] }) });
const depsOf = ({ caretaker }: World) => ({
  ...caretaker,
  policy: (name: string) => [policy, nightly].find((one) => one.name === name),
  receivers: () => [{ name: 'alive', kind: 'heartbeat' as const, rules: '' }],
  sendTest: () => Promise.reject(new Error('nothing is sent here')),
  needAccount: () => ({ baseUrl: caretaker.settings.accounts['default']?.baseUrl ?? '' }),
});
async function linesOf(act: () => Promise<unknown>): Promise<AuditLine[]> {
  const before = (await auditLines(world)).length;
  await act();
  return (await auditLines(world)).slice(before);
}

/** For each command something that the state, the input or the settings do not allow. */
const refused: [string, () => object, string][] = [
  ['policies.run', () => ({ policy: 'sync', detach: true }), 'NO_WORKER'],
  ['policies.backfill', () => ({ policy: 'sync', from: '2026-11-20T00:00:00Z' }), 'BACKFILL'],
  ['plans.apply', () => ({ plan, detach: true }), 'NO_WORKER'],
  ['policies.pause', () => ({ policy: 'sync', until: '2020-01-01T00:00:00Z' }), 'INVALID_REQUEST'],
  ['rings.hold', () => ({ policy: 'sync' }), 'NOT_FOUND'],
  ['rings.unhold', () => ({ policy: 'sync' }), 'NOT_FOUND'],
  ['rings.release', () => ({ policy: 'sync', item: 'core', version: '6.9' }), 'NOT_FOUND'],
  ['runs.cancel', () => ({ run: ended }), 'RUN'],
  ['runs.force-end', () => ({ run: ended }), 'RUN'],
  ['runs.retry', () => ({ run: ended }), 'RUN'],
  ['runs.approve', () => ({ run: ended }), 'APPROVAL'],
  ['runs.reject', () => ({ run: ended }), 'APPROVAL'],
  ['runs.resume', () => ({ run: ended }), 'RUN'],
  ['freezes.begin', () => ({ until: '1h', job: 'site-snyc' }), 'INVALID_REQUEST'],
  ['findings.acknowledge', () => ({ policy: 'sync', site: 'x', reason: 'known' }), 'NOT_FOUND'],
  ['findings.unacknowledge', () => ({ policy: 'sync', site: 'x' }), 'NOT_FOUND'],
  ['announcements.cancel', () => ({ announcement: unwritten }), 'ANNOUNCEMENT'],
  ['notifications.test', () => ({ receiver: 'alive' }), 'INVALID_REQUEST'],
  ['freezes.end', () => ({ freeze: '4711' }), 'NOT_FOUND'],
];
/** These can always be carried out. */
const never = ['notifications.resend', 'policies.resume', 'queues.pause', 'queues.resume'];

test('every command that changes something is among these cases', () => {
  const changing = commands.filter(({ reads }) => !reads).map(({ name }) => name);
  expect([...refused.map(([name]) => name), ...never].sort()).toEqual(changing.sort());
});

test.each(refused)('%s that is not possible now is refused', async (name, input, code) => {
  const command = commands.find((one) => one.name === name);
  if (!command) throw new Error(`no command ${name}`);

  const lines = await linesOf(() =>
    expect(carryOut(command, depsOf(world), input(), admin)).rejects.toMatchObject({ code }),
  );

  expect(lines.map(({ what, result }) => [what, result])).toEqual([
    [name, 'requested'],
    [name, 'refused'],
  ]);
  expect(lines[1]).toMatchObject({ code, message: expect.stringMatching(/[.?]$/) });
});

test('an act that breaks off is failed, not refused', async () => {
  const broken = { cancel: () => Promise.reject(new Error('the disk is full')) };
  const deps = { ...depsOf(world), engine: { ...world.caretaker.engine, ...broken } };
  const lines = await linesOf(() =>
    expect(carryOut(cancelRun, deps, { run: ended }, operator)).rejects.toThrow('the disk is full'),
  );
  expect(lines.at(-1)).toMatchObject({
    ...{ what: 'runs.cancel', run: ended, policy: 'sync' },
    ...{ result: 'failed', code: 'INTERNAL', message: 'the disk is full' },
  });
});

test('a backfill that is refused after its first run is failed, and says how many runs it has started', async () => {
  const { engine, clock } = world.caretaker;
  let left = 1;
  const fire: typeof engine.fire = async (...args) => {
    if (left === 0) throw new FrozenError({ at: 0, by: 'berta', until: clock.now() + 3_600_000 });
    left -= 1;
    return engine.fire(...args);
  };
  const deps = { ...depsOf(world), engine: { ...engine, fire } };
  const from = new Date(clock.now() - 3 * 86_400_000).toISOString();
  const lines = await linesOf(() =>
    expect(carryOut(backfillPolicy, deps, { policy: 'nightly', from }, operator)).rejects.toMatchObject({
      code: 'PARTLY_DONE',
      message: expect.stringMatching(
        /^1 run started; the rest was not done\. No run was started: everything/,
      ),
    }),
  );
  expect(lines.at(-1)).toMatchObject({ result: 'failed', code: 'PARTLY_DONE' });
});

test('somebody without the role has ten lines a minute, one that says so, and does not hide others', async () => {
  const { records, clock: real, log } = world.caretaker;
  let now = real.now();
  const clock = { now: () => now };
  const deps = { ...depsOf(world), audit: openAudit({ records, clock, keptMs: 86_400_000, log }) };
  const tryAs = async (name: string) => {
    const by = actor([{ role: 'viewer' }], name);
    await expect(carryOut(pausePolicy, deps, { policy: 'sync' }, by)).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
  };

  const lines = await linesOf(async () => {
    for (let i = 0; i < 30; i += 1) await tryAs('mallory');
    await tryAs('ben');
    now += 60_000;
    await tryAs('mallory');
  });

  const named = (name: string) => lines.filter(({ who }) => who.name === name);
  expect(named('mallory')).toHaveLength(12);
  expect(named('mallory')[10]?.message).toMatch(/ More that is refused within this minute has no line\.$/);
  expect(named('mallory')[11]?.message).not.toContain('More that');
  expect(named('ben')).toHaveLength(1);
  expect(new Set(lines.map(({ result }) => result))).toEqual(new Set(['refused']));
});
