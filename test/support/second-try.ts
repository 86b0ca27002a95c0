/** Says at the end which tests passed only when they were tried again: what is let through is not hidden. */
import type { Reporter, TestCase, TestModule } from 'vitest/node';

export const secondTry: Reporter = {
  onTestRunEnd(modules) {
    const tests = modules.flatMap((module) => [...module.children.allTests('passed')].map(lineOf(module)));
    const lines = tests.filter((line) => line !== undefined);
    if (lines.length > 0) process.stdout.write(`\nPassed only when tried again:\n${lines.join('\n')}\n`);
  },
};

const lineOf =
  ({ relativeModuleId }: TestModule) =>
  (test: TestCase): string | undefined => {
    if (!test.diagnostic()?.flaky) return undefined;
    const [first = ''] = test.result().errors?.[0]?.message.split('\n') ?? [];
    return `  ${relativeModuleId} > ${test.fullName}\n    at first: ${first}`;
  };
