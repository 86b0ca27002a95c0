/** The tests that `npm test` leaves out: `npm run test:long`. */
import { configDefaults, defineConfig } from 'vitest/config';
import { longestFirst } from './test/support/longest-first.ts';
import ordinary from './vitest.config.ts';

/** They take minutes each. */
const longest = [
  'dashboard/every-page.long',
  'jobs/cuts.long',
  'chaos/chaos.long',
  'engine/rollout/kills.long',
  'engine/rollout/cuts.long',
  'deploy/image.long',
  'scenarios/two-runs.long',
  'jobs/api-call/undo-cuts.long',
  'control/decision-cuts.long',
];

export default defineConfig({
  test: {
    ...ordinary.test,
    include: ['test/**/*.long.test.ts'],
    exclude: configDefaults.exclude,
    // Some follow seventy runs to their end.
    testTimeout: 360_000,
    // Fewer than of `npm test`: most of these start processes of their own, whose clocks run sixty times as fast.
    maxWorkers: 3,
    setupFiles: [...(ordinary.test?.setupFiles ?? []), 'test/support/load-esbuild.ts'],
    sequence: { sequencer: longestFirst(longest) },
  },
});
