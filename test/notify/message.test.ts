import { expect, test } from 'vitest';
import { sentenceAbout } from '../../src/notify/message.ts';
import type { Counts, Run, RunStatus } from '../../src/run/run.ts';
import { aRun } from '../support/builders.ts';

const counts = (some: Partial<Counts>): Counts => ({
  planned: 0,
  succeeded: 0,
  failed: 0,
  skipped: 0,
  cancelled: 0,
  ...some,
});

const runOf = (status: RunStatus, some: Partial<Counts>, detail?: string): Run =>
  aRun({ policy: 'sweep', status, counts: counts(some), ...(detail === undefined ? {} : { detail }) });

test.each([
  [runOf('succeeded', { planned: 1, succeeded: 1 }), 'sweep succeeded: of 1 target, 1 succeeded.'],
  [runOf('failed', { planned: 12, failed: 12 }), 'sweep failed: of 12 targets, 12 failed.'],
  [runOf('succeeded', {}), 'sweep succeeded.'],
  [
    runOf('stopped', { planned: 9, failed: 1, skipped: 8 }, 'Stopped after 1 of 9 targets failed.'),
    'sweep was stopped by a safety limit: of 9 targets, 1 failed and 8 were skipped (Stopped after 1 of 9 targets failed).',
  ],
  [runOf('blocked', { planned: 9 }), 'sweep is blocked because the account refuses access.'],
])('people are told what happened in one sentence (%#)', (run, sentence) => {
  expect(sentenceAbout(run)).toBe(sentence);
});
