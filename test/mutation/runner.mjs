/**
 * A process that runs a file of tests when it is asked to, one request after the other: `{ test, changed }` comes in as a message,
 * `{ failed: [{ file, test }] }` goes back. Sources are compiled once, and again when they have changed.
 */
import { createVitest } from 'vitest/node';

const [root, timeout] = process.argv.slice(2);
const vitest = await createVitest(
  'test',
  {
    root,
    watch: false,
    retry: 0,
    bail: 1,
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: Number(timeout),
    reporters: [{}],
  },
  {},
);
await vitest.standalone();

process.on('message', async ({ test, changed }) => {
  for (const file of changed) vitest.invalidateFile(file);
  const { testModules } = await vitest.runTestSpecifications(vitest.getModuleSpecifications(test));
  const failed = testModules.flatMap((module) => {
    const tests = [...module.children.allTests('failed')].map(({ fullName }) => fullName);
    const names =
      tests.length > 0 || module.ok() ? tests : [module.errors()[0]?.message ?? 'the file itself'];
    return names.map((test) => ({ file: module.relativeModuleId, test }));
  });
  process.send({ failed });
});
process.on('disconnect', () => process.exit());
process.send('ready');
