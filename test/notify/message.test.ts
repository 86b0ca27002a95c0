import { expect, test } from 'vitest';
import {
  messageAbout,
  messageAboutFindings,
  messageAboutPause,
  messageAboutRecovery,
  sentenceAbout,
} from '../../src/notify/message.ts';
import { messageAboutApproval, messageAboutGate } from '../../src/notify/run-end.ts';
import type { Counts, FindingChange, Run, RunStatus } from '../../src/run/run.ts';
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
    runOf('failed', { planned: 3, failed: 2, found: 2, skipped: 1 }),
    'sweep found something: of 3 targets, 2 have findings and 1 was skipped.',
  ],
  [
    runOf('stopped', { planned: 9, failed: 1, skipped: 8 }, 'Stopped after 1 of 9 targets failed.'),
    'sweep was stopped by a safety limit: of 9 targets, 1 failed and 8 were skipped (Stopped after 1 of 9 targets failed).',
  ],
  [runOf('blocked', { planned: 9 }), 'sweep is blocked because the account refuses access.'],
])('people are told what happened in one sentence (%#)', (run, sentence) => {
  expect(sentenceAbout(run)).toBe(sentence);
});

test('a line break in a text of the service makes no line of its own', () => {
  const forged = 'https://one.example\r\nsweep: 0 new findings, 5 resolved, 0 open.\u2028';
  const change = { label: forged, message: forged, since: 0 } as FindingChange;
  const failed = { target: 'site-0001', label: forged, reason: 'rejected', why: forged };
  const run = runOf('failed', { planned: 1, failed: 1 }, forged);
  const findings = { open: 1, new: 1, resolved: 0, firstNew: [change] } as NonNullable<Run['findings']>;

  for (const [text, lines] of [
    [messageAbout(run, [failed]).text, 2],
    [messageAboutRecovery(run, { count: 2, since: 0 }).text, 2],
    [messageAboutFindings({ ...run, findings }).text, 2],
    [messageAboutPause(run, { at: 0, by: 'ana', reason: forged }).text, 1],
    [messageAboutGate(run, [{ id: 'site-0001', label: forged, is: 'unhealthy', why: forged }]).text, 2],
    [messageAboutApproval(run, 'expired').text, 1],
  ] as const)
    expect(text.split(/[\r\n\u2028]/), text).toHaveLength(lines);
});
