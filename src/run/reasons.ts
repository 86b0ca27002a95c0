/** The closed list of reason codes, each with the sentence that command line, dashboard and docs show. */
export const reasons = {
  done: 'The work was done and its end was seen.',
  'already-done': 'Nothing had to be done: the account was already in the state asked for.',
  adopted: 'The same work was already under way; it was followed to its end instead of being started again.',
  announced:
    'What is to be done was announced, and nothing else; a later run does it, when the time set for that has come.',
  gone: 'The account has no such target: it was removed, or never existed.',
  'daily-limit': 'The site has used up its on-demand syncs for today.',
  maintenance: 'The site is under maintenance.',
  conflict: 'Another change of the target was under way until the time limit.',
  rejected: 'The service refused the request; the detail has its message.',
  'task-failed': 'The work was started, and the service reports that it failed.',
  'task-aborted': 'The work was started, and the service aborted it.',
  'task-cancelled': 'The work was started, and somebody cancelled it.',
  undelivered: 'The mail did not reach a recipient; the detail says whom, and what became of it.',
  'archive-failed':
    'The report could not be kept in the archive folder, and was not sent; the detail says why.',
  timeout: 'The time limit passed before the end was seen.',
  unavailable: 'The service could not do it in any of the attempts allowed.',
  'unknown-effect':
    'The answer was lost, or the service forgot the work: the effect can be neither shown nor ruled out.',
  'not-eligible': 'The target is not in a state in which this job works on it; the detail says why.',
  'update-failed':
    'An update of the schedule failed or was aborted on some site; the findings say which and why.',
  vulnerable: 'The site has a core with a known vulnerability.',
  uncovered: 'The site has a core update waiting, and no active schedule updates its core.',
  overdue: 'The schedule should have run long ago and has not.',
  'schedule-paused': 'The schedule is paused: it updates nothing.',
  'no-history': 'The schedule has never run.',
  'safety-limit': 'A safety limit stopped the run before this target was done.',
  'run-cancelled':
    'The run was cancelled before this target was done; the detail says if work was still under way in the service.',
  internal: 'Caretaker itself failed on this target; the detail and the log say how.',
} as const;

export type Reason = keyof typeof reasons;

/**
 * The failures that need not come again when the same work is tried again: only then is a retry advised. Of `unknown-effect`
 * a retry would begin blindly what may have been done, so a person looks in the account first; all others come back until
 * somebody mends their cause.
 */
const passing: readonly Reason[] = [
  'conflict',
  'task-failed',
  'task-aborted',
  'task-cancelled',
  'archive-failed',
  'timeout',
  'unavailable',
  'internal',
];

/** Whether a target that failed for this reason may do better when it is tried again, with nothing else changed. */
export const mayPass = (reason: Reason | undefined): boolean =>
  reason !== undefined && passing.includes(reason);
