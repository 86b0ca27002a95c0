/** An act whose process dies (SIGKILL) at a step, and is repeated. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { localPrincipal } from '../../src/access/principal.ts';
import { answerOnce } from '../../src/control/carry-out.ts';
import { auditLog } from '../../src/control/commands/list-audit.ts';
import { runPolicy } from '../../src/control/commands/run-policy.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';

const policy = aPolicy({ name: 'sync', job: 'site-sync' });

export const cuts = ['before-act', 'after-act', 'after-result'] as const;
type Cut = (typeof cuts)[number];

/** Carries out the act in a process of its own that dies at the step. */
async function die(world: World, cut: Cut): Promise<void> {
  const file = fileURLToPath(new URL('./dying-act.mjs', import.meta.url));
  const { settings } = world.caretaker;
  const child = spawn(process.execPath, [file, JSON.stringify({ settings, policy, cut })], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect(signal).toBe('SIGKILL');
}

/** Repeats the request in this process. */
const repeat = (world: World) => {
  const deps = { ...world.caretaker, policy: () => policy, needAccount: () => undefined };
  const by = {
    principal: { kind: 'user', name: 'anna', grants: [{ role: 'admin' }] },
    from: '192.0.2.1',
  } as const;
  return answerOnce(runPolicy, deps, { policy: 'sync' }, by, 'key-1');
};

const acts = async (world: World) =>
  (await auditLog(world.caretaker.records, { limit: 10 }, localPrincipal('me'))).lines.map(
    ({ what, result }) => `${what} ${result}`,
  );
const runs = (world: World) => world.caretaker.records.runs.list({ limit: 10 });

/** The line of the act is there, whether it happened or not; repeated, it has happened once. */
export async function dieAndRepeat(cut: Cut): Promise<void> {
  const world = await startWorld({ sites: 1, work: false, speedUp: 1, from: Date.now() });
  onTestFinished(() => world.stop());
  await die(world, cut);
  expect(await runs(world)).toHaveLength(cut === 'before-act' ? 0 : 1);
  expect(await acts(world)).toEqual([`policies.run ${cut === 'after-result' ? 'done' : 'requested'}`]);
  // At first, the process that died is taken for one that is still at work.
  await expect(repeat(world)).rejects.toMatchObject({ code: 'KEY_BUSY' });
  world.clock.leap(31_000);

  const answer = await repeat(world);

  const [run, ...others] = await runs(world);
  expect(others).toEqual([]);
  expect(answer).toMatchObject({ run: { run: run?.id } });
  expect(await repeat(world)).toEqual(answer);
  expect((await acts(world)).at(0)).toBe('policies.run done');
}
