import { CaretakerError } from '../../errors.ts';

/** The decision is not possible, or not for this person. */
export class ApprovalError extends CaretakerError {
  readonly code = 'APPROVAL';
}

/** The rollout is not where the command applies, or cannot go on in this process. */
export class RolloutError extends CaretakerError {
  readonly code = 'ROLLOUT';
}
