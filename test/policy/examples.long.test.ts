import { test } from 'vitest';
import { exampleRuns, examples } from './example-runs.ts';

const carryOut = exampleRuns();

test.each(examples.policies.map((policy) => ({ name: policy.name, policy })))(
  'the sandbox carries out $name',
  async ({ policy }) => carryOut(policy),
);
