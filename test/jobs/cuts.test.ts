/**
 * Every effect of every job, cut off at each of its steps by a worker that dies there (SIGKILL, a process of its own): another
 * one takes over, and the account has each effect once.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import type { OperationId } from '../../src/contract/operations.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { aPolicy, startWorld, until, type World } from '../support/caretaker.ts';

const steps = ['before-intent', 'after-intent', 'after-send', 'after-answer', 'after-result'] as const;
type Step = (typeof steps)[number];

interface Scenario {
  operation: OperationId;
  policy: Partial<Policy>;
  /** Makes the world such that the policy has `steps.length` targets or more; gives what else to expect of it. */
  prepare?(world: World): void;
  sites?: number;
}

const scenarios: Record<string, Scenario> = {
  'site-sync starts a sync': { operation: 'syncSite', policy: { job: 'site-sync' } },
};

let world: World;
const children = new Set<ChildProcess>();
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  await world.stop();
});

/** Lets a worker work until it dies at a step of the next such effect. */
async function dieAt(step: Step, operation: OperationId): Promise<void> {
  const { caretaker, clock, sandbox } = world;
  const before = sandbox.journal.effectsOf(operation).length;
  if (step === 'after-send') sandbox.failNext({ operation }, 'slow');
  const facts = {
    settings: caretaker.settings,
    clock: { from: clock.from, speed: clock.speed },
    cut: { step, operation },
  };
  const file = fileURLToPath(new URL('../support/dying.mjs', import.meta.url));
  const child = spawn(process.execPath, [file, JSON.stringify(facts)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.add(child);
  const ended = once(child, 'exit');
  if (step === 'after-send') {
    await until(world, () => sandbox.journal.effectsOf(operation).length > before);
    child.kill('SIGKILL');
  }
  const [, signal] = await ended;
  children.delete(child);
  expect(signal, `the worker that was to die ${step}`).toBe('SIGKILL');
}

test.each(Object.entries(scenarios))('%s once, at whichever step its worker dies', async (_, scenario) => {
  const { operation, policy, prepare, sites = steps.length } = scenario;
  world = await startWorld({ sites, work: false });
  prepare?.(world);
  const run = await world.fire(aPolicy(policy));

  for (const step of steps) await dieAt(step, operation);
  const working = world.caretaker.engine.work(20);
  const end = await world.ended(run);
  await working.stop();

  const effects = world.sandbox.journal.effectsOf(operation);
  expect(effects.length).toBeGreaterThanOrEqual(steps.length);
  expect(new Set(effects).size, 'no effect happened twice').toBe(effects.length);
  expect(end.counts).toMatchObject({ failed: 0, cancelled: 0, succeeded: effects.length });
});
