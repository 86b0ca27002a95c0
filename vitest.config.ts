import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Those are run by `npm run test:long` (vitest.long.config.ts).
    exclude: [...configDefaults.exclude, 'test/**/*.long.test.ts'],
    // Far beyond what anything takes: a busy machine is no failure.
    testTimeout: 120_000,
    // Some wait at first, at night, for the half hour to strike (`clearOfTheHour`): for a minute at most.
    hookTimeout: 120_000,
    // One more than the cores of our smallest machine, because tests also wait. With more of them they are not ready
    // sooner: the cores are busy, and each test sees a slower machine.
    maxWorkers: 3,
    // A worker loads each module once, for all of its files: loading them again for each file takes more time
    // than most tests. So a module keeps no state, except the one that `between-files.ts` clears.
    isolate: false,
    globalSetup: ['test/dashboard/browser-of-run.ts'],
    setupFiles: ['test/support/between-files.ts'],
    // What is compiled is kept for the next run.
    experimental: { fsModuleCache: true },
  },
});
