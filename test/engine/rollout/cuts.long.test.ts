/** All cases of `cuts.test.ts`. */
import { vi } from 'vitest';
import './cuts.test.ts';

// Each test follows some seventy runs to their end.
vi.setConfig({ testTimeout: 360_000 });
