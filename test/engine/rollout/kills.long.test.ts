/**
 * Kills at each step of plan, approval, batch, pause and gate: workers in their own processes die there (SIGKILL), one
 * after the other. A batch begins once, a gate is asked again, and no effect happens twice.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { localPrincipal } from '../../../src/access/principal.ts';
import { isFinal } from '../../../src/run/moves.ts';
import { aPolicy } from '../../support/builders.ts';
import type { World } from '../../support/caretaker.ts';
import { worldOfTest } from '../../support/world-of-test.ts';

const file = fileURLToPath(new URL('../../support/dying-in-rollout.mjs', import.meta.url));

/** Lets a worker work until it dies, and gives the step; undefined when the run waits or has ended instead. */
async function workUntilDeath(
  { caretaker, clock }: World,
  run: string,
  passed: readonly string[],
): Promise<string | undefined> {
  const facts = { settings: caretaker.settings, clock: clock.shared(), passed };
  const child = spawn(process.execPath, [file, JSON.stringify(facts)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const ended = once(child, 'exit');
  const nowAndThen = setInterval(async () => {
    const now = await caretaker.records.runs.get(run);
    if (now && isFinal(now.status)) child.kill('SIGTERM');
  }, 500);
  const [, signal] = await ended;
  clearInterval(nowAndThen);
  return signal === 'SIGKILL' ? /died at: (.+)/.exec(said)?.[1] : undefined;
}

test('workers that die at each step of a rollout with an approval begin each batch once', async () => {
  const world = await worldOfTest({ sites: 8, speedUp: 60, work: false });
  const { engine, records } = world.caretaker;
  const policy = aPolicy({
    approval: { when: 'always', expiresMs: 7 * 86_400_000 },
    rollout: {
      batches: [{ count: 2 }],
      pauseMs: 60_000,
      maxFailed: { percent: 100 },
      healthy: 'site.url != ""',
      waitWhenClosedMs: 0,
    },
    timeout: { targetMs: 86_400_000, runMs: 2 * 86_400_000 },
  });
  const { id } = await world.fire(policy);
  // A worker that dies while it plans holds the entry of the plan for 15 s: once is enough, at the place between the two
  // changes. `cuts.test.ts` has all others.
  const left = ['place before', 'move to awaiting-approval 0 before'];
  const died: string[] = [];
  for (let workers = 0; workers < 80; workers += 1) {
    const run = await records.runs.get(id);
    if (!run || isFinal(run.status)) break;
    if (run.status === 'awaiting-approval') await engine.approve(id, { by: localPrincipal('anna') });
    const step = await workUntilDeath(world, id, [...left, ...died]);
    if (step !== undefined) died.push(step);
  }

  const end = await records.runs.get(id);
  expect(end?.status).toMatch(/^(succeeded|partial)$/);
  // The approval itself is made here, and with it the first step after it.
  expect(died).toEqual(expect.arrayContaining(['place after', 'move to awaiting-approval 0 after']));
  for (const step of ['running 1', 'pausing 1', 'asking 1', 'ready 1', 'checking 1', 'running 2'])
    expect(died).toEqual(expect.arrayContaining([`${step} before`, `${step} after`]));
  const syncs = world.sandbox.journal.effectsOf('syncSite');
  expect(new Set(syncs).size, 'no site is synced twice').toBe(syncs.length);
  const targets = await world.targets(id);
  const first = Math.min(...targets.flatMap((one) => (one.batch === 2 ? [one.startedAt ?? Infinity] : [])));
  const last = Math.max(...targets.flatMap((one) => (one.batch === 1 ? [one.finishedAt ?? 0] : [])));
  expect(first, 'the second batch begins after the first has ended').toBeGreaterThanOrEqual(last);
  expect(end?.rollout?.batches.map(({ gate }) => gate?.is)).toEqual(['open', undefined]);
}, 400_000);
