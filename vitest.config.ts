import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Far beyond what anything takes: a busy machine is no failure.
    testTimeout: 120_000,
    // Some wait at first for the half hour to strike (`clearOfTheHour`).
    hookTimeout: 240_000,
    // Most of the time tests wait for real processes and real time, so more than the two cores of our smallest machine.
    maxWorkers: 5,
    // A process for each file would load the same packages two hundred times; our own modules are each file's own.
    isolate: false,
    setupFiles: ['test/support/own-modules.ts'],
  },
});
