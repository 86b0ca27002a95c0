/** The tests that `npm test` leaves out: `npm run test:long`. */
import { configDefaults, defineConfig } from 'vitest/config';
import ordinary from './vitest.config.ts';

export default defineConfig({
  test: {
    ...ordinary.test,
    include: ['test/**/*.long.test.ts'],
    exclude: configDefaults.exclude,
    passWithNoTests: true,
  },
});
