/** Policies with the job api-call, as a file has them. */
import { expect } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { createRegistry } from '../../../src/job/registry.ts';
import { loadPolicies } from '../../../src/policy/load-policies.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { folderWith } from '../../settings/folder.ts';

const read = (select: object | undefined, call: object, more: object) => {
  const policy = { name: 'p', job: 'api-call', ...(select ? { select } : {}), with: call, ...more };
  const dir = folderWith({ 'p.yaml': JSON.stringify({ policies: [policy] }) });
  return loadPolicies({ dir, registry: createRegistry([apiCall]) });
};

export function callOf(select: object | undefined, call: object, more: object = {}): Policy {
  const { policies, findings } = read(select, call, more);
  expect(findings.map(({ message, suggestion }) => `${message} ${suggestion ?? ''}`)).toEqual([]);
  return policies[0] as Policy;
}

/** What is wrong with a call, each with its suggestion. */
export const mistakesIn = (select: object | undefined, call: object): string[] =>
  read(select, call, {}).findings.map(({ message, suggestion }) =>
    suggestion === undefined ? message : `${message} ${suggestion}`,
  );
