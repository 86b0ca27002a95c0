/** The tests that `npm test` leaves out: `npm run test:long`. */
import { configDefaults, defineConfig } from 'vitest/config';
import { longestFirst } from './test/support/longest-first.ts';
import ordinary from './vitest.config.ts';

/** They take one to four minutes each. */
const longest = [
  'chaos/chaos.long',
  'dashboard/every-page.long',
  'engine/rollout/cuts.long',
  'engine/act/changing-facts.long',
  'engine/rollout/kills.long',
  'jobs/cuts.long',
  'deploy/image.long',
  'jobs/api-call/lost-answers.long',
  'setup/package.long',
  'control/decision-cuts.long',
  'scenarios/monthly-reports.long',
  'jobs/report-dispatch/claims.long',
];

export default defineConfig({
  test: {
    ...ordinary.test,
    include: ['test/**/*.long.test.ts'],
    exclude: configDefaults.exclude,
    // Some follow seventy runs to their end.
    testTimeout: 360_000,
    setupFiles: [...(ordinary.test?.setupFiles ?? []), 'test/support/load-esbuild.ts'],
    sequence: { sequencer: longestFirst(longest) },
  },
});
