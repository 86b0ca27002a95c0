/** Policies with one job, as a file has them: `select` and `with` in YAML's flow style. */
import { expect } from 'vitest';
import type { AnyJob } from '../../src/job/job.ts';
import { createRegistry } from '../../src/job/registry.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { folderWith } from '../settings/folder.ts';

function read(job: AnyJob, select: string, options: string) {
  const text = `policies:\n  - name: p\n    job: ${job.name}\n    select: ${select}\n    with: ${options}\n`;
  return loadPolicies({ dir: folderWith({ 'p.yaml': text }), registry: createRegistry([job]) });
}

export function policyOf(job: AnyJob, select: string, options = '{}'): Policy {
  const { policies, findings } = read(job, select, options);
  expect(findings.map(({ message, suggestion }) => `${message} ${suggestion ?? ''}`)).toEqual([]);
  return policies[0] as Policy;
}

/** What is wrong, each with its place and its suggestion. Lines and columns are counted from the brace of `with`. */
export const mistakesOf = (job: AnyJob, select: string, options = '{}'): string[] =>
  read(job, select, options).findings.map(
    ({ line, column, message, suggestion }) =>
      `${line - 5}:${column - 11} ${message}${suggestion ? ` ${suggestion}` : ''}`,
  );
