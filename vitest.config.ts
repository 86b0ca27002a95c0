import { configDefaults, defineConfig } from 'vitest/config';
import { longestFirst } from './test/support/longest-first.ts';

/** They take longest where no earlier run has shown how long each takes. */
const longest = [
  'dashboard/browser',
  'jobs/cuts',
  'setup/launcher',
  'jobs/report-dispatch/claims',
  'cli/mcp',
  'jobs/api-call/undo-cuts',
];

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Those are run by `npm run test:long` (vitest.long.config.ts).
    exclude: [...configDefaults.exclude, 'test/**/*.long.test.ts'],
    // Far beyond what anything takes: a busy machine is no failure.
    testTimeout: 120_000,
    // Some wait at first, at night, for the half hour to strike (`clearOfTheHour`): for a minute at most.
    hookTimeout: 120_000,
    // Twice the cores of our smallest machine, because tests wait for half of their time.
    maxWorkers: 4,
    // A worker loads each module once, for all of its files: loading them again for each file takes more time
    // than most tests. So a module keeps no state, except the one that `between-files.ts` clears.
    isolate: false,
    globalSetup: ['test/dashboard/browser-of-run.ts'],
    setupFiles: ['test/support/between-files.ts'],
    sequence: { sequencer: longestFirst(longest) },
    // What is compiled is kept for the next run.
    experimental: { fsModuleCache: true },
  },
});
