/**
 * A process that runs a file of tests when it is asked to, one request after the other: `{ test, changed }`
 * comes in as a message, `{ failed: [names], passed: count }` goes back. Sources are compiled once, and again
 * when they have changed.
 */
import { createVitest } from 'vitest/node';

const [root, timeout] = process.argv.slice(2);
const vitest = await createVitest(
  'test',
  {
    root,
    config: 'test/mutation/vitest.config.ts',
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
  // What earlier runs have found counts no more, for the bail either.
  const { filesMap, idMap, errorsSet } = vitest.state;
  for (const known of [filesMap, idMap, errorsSet]) known.clear();
  const { testModules } = await vitest.runTestSpecifications(vitest.getModuleSpecifications(test));
  const module = testModules.find(({ moduleId }) => moduleId === test);
  const failed = [...(module?.children.allTests('failed') ?? [])].map(({ fullName }) => fullName);
  const passed = [...(module?.children.allTests('passed') ?? [])].length;
  if (failed.length === 0 && !module?.ok()) failed.push(module?.errors()[0]?.message ?? 'it did not run');
  process.send({ failed, passed });
});
process.on('disconnect', () => process.exit());
process.send('ready');
