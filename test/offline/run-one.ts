/** Tests of one policy, both given as text. */
import { join } from 'node:path';
import { expect } from 'vitest';
import { stringify } from 'yaml';
import type { Registry } from '../../src/job/registry.ts';
import { loadTests } from '../../src/offline/tests/load-tests.ts';
import { runTest, type TestResult } from '../../src/offline/tests/run-test.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { folderWith } from '../settings/folder.ts';

export const budget = { requestsPerMinute: 200, reserve: 0.1 };

interface One {
  registry: Registry;
  /** The text of a file with the policy `p`. */
  policy: string;
  /** What the test has besides its name. */
  test: object;
}

/** The result of a test of the policy `p`. */
export async function resultOf({ registry, policy, test }: One): Promise<TestResult> {
  const tests = stringify({ tests: [{ name: 'It works', policy: 'p', ...test }] });
  const dir = folderWith({ 'p.yaml': policy, 'tests.yaml': tests });
  const policies = loadPolicies({ dir, files: [join(dir, 'p.yaml')], registry });
  const loaded = loadTests([join(dir, 'tests.yaml')], policies);
  expect([...policies.findings, ...loaded.findings]).toEqual([]);
  return runTest(loaded.tests[0] as (typeof loaded.tests)[number], { registry, budget });
}
