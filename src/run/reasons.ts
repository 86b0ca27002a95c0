/**
 * The reason codes that every run knows, each with the sentence that command line, dashboard and docs show.
 */

/** What people see of a reason. */
export interface ReasonInfo {
  /** One sentence. */
  text: string;
  /**
   * A retry may help without any other change, so it is recommended. Not set for `unknown-effect`: a retry
   * may repeat an effect, so a person must look in the account first. The other reasons return until their
   * cause is fixed.
   */
  retryable?: true;
  /** The target succeeded without its change: there is nothing to write to its site (`record:`). */
  withoutChange?: true;
  /** A check did its work and found something: the target counts as failed, and is shown as found. */
  found?: true;
  /** Shown at the end of a run although the target succeeded. */
  notable?: true;
}

export const coreReasons = {
  done: { text: 'The work was done and its end was seen.' },
  'already-done': {
    text: 'No action was needed: the account was already in the requested state.',
    withoutChange: true,
  },
  adopted: {
    text: 'The same work was already in progress; it was followed to its end instead of being started again.',
  },
  gone: { text: 'The account has no such target: it was removed, or never existed.' },
  'daily-limit': { text: 'The site has used up its on-demand syncs for today.' },
  maintenance: { text: 'The site is under maintenance.' },
  conflict: { text: 'Another change of the target was in progress until the time limit.', retryable: true },
  rejected: { text: 'The service refused the request; the detail has its message.' },
  'task-failed': { text: 'The work was started, and the service reports that it failed.', retryable: true },
  'task-aborted': { text: 'The work was started, and the service aborted it.', retryable: true },
  'task-cancelled': {
    text: 'The work was started, and was cancelled in the service before its end.',
    retryable: true,
  },
  'archive-failed': {
    text: 'What was to be archived could not be written; the detail shows why.',
    retryable: true,
  },
  timeout: { text: 'The time limit passed before the end was seen.', retryable: true },
  unconfirmed: {
    text: 'The time limit passed, and the service did not show whether the work had ended.',
    retryable: true,
  },
  unavailable: { text: 'The service could not do it in any of the attempts allowed.', retryable: true },
  'unknown-effect': {
    text: 'The answer was lost, or the service forgot the work: the effect can be neither shown nor ruled out.',
  },
  announced: {
    text: 'The change was announced and is not made yet; a later run makes it after the announced time.',
    withoutChange: true,
    notable: true,
  },
  'announcement-removed': {
    text: 'The change was announced, then it was cancelled or its announcement was removed: it is not made.',
  },
  'announcement-withdrawn': {
    text: 'The announcement of a change was withdrawn: the policy no longer selects the target, or the change was cancelled.',
    withoutChange: true,
    notable: true,
  },
  frozen: { text: 'A freeze of its client or tag holds for the target; the detail names it.' },
  'changed-since-plan': {
    text: 'The target is not as it was when it was planned, so nothing was sent; the detail shows what differs.',
  },
  'not-eligible': {
    text: 'The target is not in a state in which this job works on it; the detail shows why.',
  },
  'not-approved': { text: 'The target was rejected, or was not approved in time.' },
  'gate-closed': { text: 'An earlier batch of the rollout did not do well, so this target was not started.' },
  'safety-limit': { text: 'A safety limit stopped the run before this target was done.' },
  'window-over': {
    text: 'The window of the run ended before this target was begun; the next run begins with it.',
  },
  'run-cancelled': {
    text: 'The run was cancelled before this target was done; the detail shows if work was still in progress in the service.',
  },
  internal: {
    text: 'Caretaker itself failed on this target; the detail and the log say how.',
    retryable: true,
  },
} as const satisfies Record<string, ReasonInfo>;

/** A code of `coreReasons`, or one that a job declares (`reasons` of `defineJob`). */
export type Reason = keyof typeof coreReasons | (string & {});

/** All reason codes with their texts: those of `coreReasons` and of the jobs. */
export type Reasons = ReadonlyMap<string, ReasonInfo>;

/**
 * The sentence of a core reason; undefined for a job's own reason, whose sentence is in the detail of the
 * target.
 */
export const coreReasonText = (reason: Reason): string | undefined =>
  Object.hasOwn(coreReasons, reason) ? coreReasons[reason as keyof typeof coreReasons].text : undefined;
