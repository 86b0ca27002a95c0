/** An act whose process dies (SIGKILL) between its line, its effect, its result and its stored answer. */
import { test } from 'vitest';
import { cuts, dieAndRepeat } from './die-and-repeat.ts';

test.each(cuts)(
  'when the process dies %s, the act has its line, and a repeated request makes no second run',
  dieAndRepeat,
);
