/** The jobs, and the JSON Schema of policy files: compiled once for all tests of a worker, because it is slow. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { policyFileJsonSchema } from '../../src/policy/policy-file-schema.ts';

export const registry = await loadJobs();

export const isValidPolicyFile = new Ajv2020({ strict: false, validateFormats: false }).compile(
  policyFileJsonSchema(registry),
);
