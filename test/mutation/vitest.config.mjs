/** The tests of one round of `npm run mutation`, on sources with all mutants of the sample in them. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { cwd, env } from 'node:process';
import { defineConfig } from 'vitest/config';
import ordinary from '../../vitest.config.ts';
import { switched } from './mutants.mjs';

const { mutants, files } = JSON.parse(readFileSync(`${env.MUTATION_FOLDER}/round.json`, 'utf8'));

// biome-ignore lint/style/noDefaultExport: vitest takes its configuration so.
export default defineConfig({
  plugins: [
    {
      name: 'mutants',
      enforce: 'pre',
      transform(code, id) {
        const of = mutants[relative(cwd(), id)];
        return of && { code: switched(code, of), map: null };
      },
    },
  ],
  test: {
    ...ordinary.test,
    include: files,
    runner: 'test/mutation/test-runner.ts',
    // Of a test that starts what never answers; `test-runner.ts` has a shorter one for each test.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: [{}],
    experimental: { fsModuleCache: false },
  },
});
