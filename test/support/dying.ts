/** A worker in a process of its own that dies at one exact step of an effect (SIGKILL): see `dying.mjs`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { OperationId } from '../../src/contract/operations.ts';
import { until, type World } from './caretaker.ts';

/** The steps of an effect at which a worker can die. */
export const steps = ['before-intent', 'after-intent', 'after-send', 'after-answer', 'after-result'] as const;
export type Step = (typeof steps)[number];

const children = new Set<ChildProcess>();

/** Ends the workers that a failed test left. */
export function endDying(): void {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
}

/** Lets a worker work until it dies at a step of the next such effect. */
export async function dieAt(world: World, step: Step, operation: OperationId): Promise<void> {
  const { caretaker, clock, sandbox } = world;
  const before = sandbox.journal.effectsOf(operation).length;
  if (step === 'after-send') sandbox.failNext({ operation }, 'slow');
  const facts = {
    settings: caretaker.settings,
    clock: clock.shared(),
    cut: { step, operation },
  };
  const file = fileURLToPath(new URL('./dying.mjs', import.meta.url));
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
