import { readFileSync } from 'node:fs';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { loadTests, testFilesIn } from '../../src/offline/tests/load-tests.ts';
import { testFileJsonSchema } from '../../src/offline/tests/test-file.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { type Judge, judgeBy } from '../policy/mutations/agreement.ts';
import { compiled } from '../support/json-schema.ts';

const registry = await loadJobs();

const loaded = [
  loadPolicies({ dir: 'config/policies', registry }),
  loadPolicies({ dir: 'config/examples', registry }),
];
const policies = { policies: loaded.flatMap((one) => one.policies), broken: [] };
/** The files of tests that we ship. */
export const testFileTexts = testFilesIn('config/tests').map((file) => readFileSync(file, 'utf8'));

/** What the JSON Schema and the command say about a file of tests. */
export const judgeTestFiles = (): Judge =>
  judgeBy(
    compiled(testFileJsonSchema()),
    (file) => loadTests([file], policies, () => ({ ...policies, findings: [] })).findings,
  );
