import { loadPolicies } from '../../../src/policy/load-policies.ts';
import { isValidPolicyFile, registry } from '../policy-schema.ts';
import { type Judge, judgeBy } from './agreement.ts';

/** What the JSON Schema and `validate` say about a policy file. */
export const judgePolicies = (): Judge =>
  judgeBy(isValidPolicyFile, (file) => loadPolicies({ dir: '.', files: [file], registry }).findings);
