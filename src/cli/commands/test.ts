import { join } from 'node:path';
import { loadJobs } from '../../app/load-jobs.ts';
import { usualBudget } from '../../offline/offline-plan.ts';
import { type LoadedTest, loadTests, testFilesIn } from '../../offline/tests/load-tests.ts';
import { type Difference, runTest, type TestResult } from '../../offline/tests/run-test.ts';
import { loadPolicies } from '../../policy/load-policies.ts';
import { countOf } from '../../text.ts';
import { shortFile } from '../../yaml/diagnostic.ts';
import { type GlobalOptions, policiesOf, printFindings, settingsOf } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { isForPeople, show } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';

/** Runs the tests of policies, without network or Redis. */
export async function test(terminal: Terminal, files: string[], options: GlobalOptions): Promise<number> {
  const settings = settingsOf(terminal, options);
  const folder = join(settings.policiesDir, '..', 'tests');
  const named = files.length > 0 ? files : testFilesIn(folder);
  if (named.length === 0)
    throw new UsageError(`There are no tests in ${shortFile(folder)}: name files, or write one there.`);
  const registry = await loadJobs();
  const { tests, findings } = loadTests(named, await policiesOf(settings), (path) =>
    loadPolicies({ dir: settings.policiesDir, files: [path], registry, settings }),
  );
  const results: { test: LoadedTest; result: TestResult }[] = [];
  for (const one of tests) {
    const budget = settings.accounts[one.policy.account]?.budget ?? usualBudget;
    const result = await runTest(one, { registry, budget });
    results.push({ test: one, result });
    if (isForPeople(options)) print(one, result, terminal);
  }
  const failed = results.filter(({ result }) => !isPassed(result)).length;
  const passed = results.length - failed;
  const rows = results.map(asJson);
  const text = () => {
    printFindings(findings, terminal);
    const failing = failed > 0 ? `, ${failed} failed` : '';
    terminal.message(`${countOf(passed, 'test')} passed${failing}.`);
  };
  await show(terminal, options, { value: { passed, failed, tests: rows, findings }, rows, text });
  if (findings.length > 0) return exit.badInput;
  return failed > 0 ? exit.notAllWell : exit.ok;
}

const isPassed = ({ differences, error }: TestResult): boolean =>
  differences.length === 0 && error === undefined;

const asJson = ({
  test: {
    place,
    test: { name },
    policy,
  },
  result,
}: {
  test: LoadedTest;
  result: TestResult;
}) => ({
  name,
  policy: policy.name,
  place,
  passed: isPassed(result),
  differences: result.differences,
  error: result.error ?? null,
});

function print({ test: { name }, policy, place }: LoadedTest, result: TestResult, terminal: Terminal): void {
  const { data, paint } = terminal;
  const passed = isPassed(result);
  data(`${passed ? paint('green', 'passed') : paint('red', 'failed')}  ${policy.name}: ${name}`);
  if (!passed) data(`        ${paint('cyan', place)}`);
  if (result.error !== undefined) data(`        ${result.error}`);
  for (const one of result.differences) printDifference(one, terminal);
}

function printDifference({ at, missing, unexpected }: Difference, { data, paint }: Terminal): void {
  data(`        ${at}: - expected, + planned`);
  for (const line of missing) data(paint('red', `          - ${line}`));
  for (const line of unexpected) data(paint('green', `          + ${line}`));
}
