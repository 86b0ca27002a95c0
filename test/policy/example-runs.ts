/** Carries out example policies, one after the other, against a sandbox. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { quickReports } from '../support/quick-reports.ts';
import { quickSyncs } from '../support/quick-syncs.ts';
import { sampleOf } from '../support/sample.ts';

export const registry = await loadJobs();

const folder = 'config/examples';
export const examples = loadPolicies({ dir: folder, files: [folder], registry });

/** How targets may end: with the work done, or with what the sandbox's sites have. */
const expected: string[] = [
  ...['done', 'already-done', 'announced', 'found', 'adopted', 'no-history', 'schedule-paused', 'vulnerable'],
  ...['update-failed', 'overdue', 'uncovered', 'task-failed', 'undelivered', 'daily-limit', 'maintenance'],
  'not-eligible',
];

/** What the service refuses as a rule of its own. */
const serviceLimits = ['A staging site lives for 30 days at most.'];

const quickWork = async (parts: Parameters<typeof quickSyncs>[0]) => {
  await quickSyncs(parts);
  await quickReports(parts);
};

/** A world for the examples of this file of tests; returns what carries one out. */
export function exampleRuns(): (policy: Policy) => Promise<void> {
  let world: World;
  let archive = '';
  beforeAll(async () => {
    archive = mkdtempSync(join(tmpdir(), 'caretaker-examples-'));
    world = await startWorld({ sites: sampleOf(20, 60), speedUp: 120, before: quickWork });
  });
  afterAll(async () => {
    rmSync(archive, { recursive: true, force: true });
    await world.stop();
  });
  return async (policy) => {
    const run = await world.ended(await world.fire(toCarryOut(policy, archive)));
    const targets = await world.targets(run.id);
    const unexpected = targets
      .filter(
        ({ reason, detail = '' }) => !expected.includes(reason ?? '') && !serviceLimits.includes(detail),
      )
      .map(({ id, reason, detail }) => ({ id, reason, detail }));

    // What is wrong in the sandbox's fleet (a hacked site, a sync that fails) is found; the policy itself works.
    expect(['succeeded', 'partial', 'failed']).toContain(run.status);
    expect(unexpected).toEqual([]);
  };
}

/** The policy with a folder of ours for what it archives, and without the people for whom it would wait. */
const toCarryOut = ({ approval: _, rollout: _batches, ...policy }: Policy, archive: string): Policy => {
  const options = policy.options as object;
  return 'archive_dir' in options ? { ...policy, options: { ...options, archive_dir: archive } } : policy;
};
