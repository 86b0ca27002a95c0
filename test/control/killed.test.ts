import { test } from 'vitest';
import { dieAndRepeat } from './die-and-repeat.ts';

// Only a process of its own can be killed. The long suite kills it at every step.
test('when the process dies after the act, the act has its line, and a repeated request makes no second run', () =>
  dieAndRepeat('after-act'));
