/** Every test, long ones included. */
import { configDefaults, defineConfig } from 'vitest/config';
import ordinary from '../../vitest.config.ts';

export default defineConfig({
  test: { ...ordinary.test, exclude: configDefaults.exclude, experimental: { fsModuleCache: false } },
});
