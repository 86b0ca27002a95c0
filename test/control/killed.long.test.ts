/** An act whose process dies (SIGKILL) between its line, its effect, its result and its stored answer. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { answerOnce } from '../../src/control/carry-out.ts';
import { runPolicy } from '../../src/control/commands/run-policy.ts';
import { aPolicy } from '../support/builders.ts';
import type { World } from '../support/caretaker.ts';
import { worldOfTest } from '../support/world-of-test.ts';
import { admin, auditLines } from './acting.ts';

const policy = aPolicy({ name: 'sync', job: 'site-sync' });

type Cut = 'before-act' | 'after-act' | 'after-result';

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
  return answerOnce(runPolicy, deps, { policy: 'sync' }, admin, 'key-1');
};

const acts = async (world: World) => (await auditLines(world)).map(({ what, result }) => `${what} ${result}`);
const runs = (world: World) => world.caretaker.records.runs.list({ limit: 10 });

test.each(['before-act', 'after-act', 'after-result'] as const)(
  'when the process dies %s, the act has its line, and a repeated request makes no second run',
  async (cut) => {
    const world = await worldOfTest({ sites: 1, work: false, speedUp: 1, from: Date.now() });
    await die(world, cut);
    expect(await runs(world)).toHaveLength(cut === 'before-act' ? 0 : 1);
    const done = cut === 'after-result' ? ['policies.run done'] : [];
    expect(await acts(world)).toEqual(['policies.run requested', ...done]);
    // At first, the process that died is taken for one that is still at work.
    await expect(repeat(world)).rejects.toMatchObject({ code: 'KEY_BUSY' });
    world.clock.leap(31_000);

    const answer = await repeat(world);

    const [run, ...others] = await runs(world);
    expect(others).toEqual([]);
    expect(answer).toMatchObject({ run: { run: run?.id } });
    expect(await repeat(world)).toEqual(answer);
    expect((await acts(world)).at(-1)).toBe('policies.run done');
  },
);
