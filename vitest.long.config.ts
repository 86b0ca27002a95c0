/** The tests that `npm test` leaves out: `npm run test:long`. */
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import ordinary from './vitest.config.ts';

/** They take minutes each: one that began last would be alone at the end. */
const longest = [
  'dashboard/every-page',
  'jobs/cuts',
  'chaos/chaos',
  'engine/rollout/kills',
  'engine/rollout/cuts',
  'deploy/image',
  'scenarios/two-runs',
  'jobs/api-call/undo-cuts',
  'control/decision-cuts',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = longest.findIndex((name) => moduleId.endsWith(`/${name}.long.test.ts`));
      return at < 0 ? longest.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    ...ordinary.test,
    include: ['test/**/*.long.test.ts'],
    exclude: configDefaults.exclude,
    setupFiles: [...(ordinary.test?.setupFiles ?? []), 'test/support/load-esbuild.ts'],
    sequence: { sequencer: LongestFirst },
  },
});
