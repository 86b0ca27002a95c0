import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Those are run by `npm run test:long` (vitest.long.config.ts).
    exclude: [...configDefaults.exclude, 'test/**/*.long.test.ts'],
    // Far beyond what anything takes: a busy machine is no failure.
    testTimeout: 120_000,
    // Some wait at first for the half hour to strike (`clearOfTheHour`).
    hookTimeout: 240_000,
    // One more than the cores of our smallest machine, because tests also wait. With more of them they are not ready
    // sooner: the cores are busy, and each test sees a slower machine.
    maxWorkers: 3,
    // A process for each file would load the same packages two hundred times; our own modules are each file's own.
    isolate: false,
    setupFiles: ['test/support/own-modules.ts'],
  },
});
