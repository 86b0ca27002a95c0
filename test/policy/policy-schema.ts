/** The jobs, and the JSON Schema of policy files: compiled once for all tests of a worker, because it is slow. */
import { loadJobs } from '../../src/app/load-jobs.ts';
import { policyFileJsonSchema } from '../../src/policy/policy-file-schema.ts';
import { compiled } from '../support/json-schema.ts';

export const registry = await loadJobs();

export const isValidPolicyFile = compiled(policyFileJsonSchema(registry));
