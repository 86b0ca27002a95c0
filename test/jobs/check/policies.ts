/** Policies with the job check, as a file has them. */
import { expect } from 'vitest';
import { check } from '../../../jobs/check/job.ts';
import { createRegistry } from '../../../src/job/registry.ts';
import { loadPolicies } from '../../../src/policy/load-policies.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { folderWith } from '../../settings/folder.ts';

/** A file with one check: `select` and `with` in YAML's flow style. */
function read(select: string, options = '{}') {
  const text = `policies:\n  - name: p\n    job: check\n    select: ${select}\n    with: ${options}\n`;
  return loadPolicies({ dir: folderWith({ 'p.yaml': text }), registry: createRegistry([check]) });
}

export function checkOf(select: string, options?: string): Policy {
  const { policies, findings } = read(select, options);
  expect(findings.map(({ message, suggestion }) => `${message} ${suggestion ?? ''}`)).toEqual([]);
  return policies[0] as Policy;
}

/** What is wrong with a check, each with its suggestion. */
export const mistakesIn = (select: string, options?: string): string[] =>
  read(select, options).findings.map(({ message, suggestion }) =>
    suggestion === undefined ? message : `${message} ${suggestion}`,
  );
