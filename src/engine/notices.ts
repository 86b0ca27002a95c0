/** The notices of the engine: they are written with the change that they are about (`records/notice-store.ts`). */
import type { Policy } from '../policy/policy.ts';
import type { Notice } from '../records/notice-store.ts';

/** The notice, unless the policy notifies no one of anything. */
export const noticeFor = ({ notify }: Pick<Policy, 'notify'>, notice: Notice): Notice | undefined =>
  notify.length > 0 ? notice : undefined;
