/** What keeps a policy from firing, in words: `paused by anna: the big sale`. */
import type { LeftOutFor } from '../records/ledger-store.ts';

const words: Record<LeftOutFor, string> = {
  overlap: 'overlap',
  paused: 'paused',
  frozen: 'frozen',
  blackout: 'blackout',
  disabled: 'disabled',
};

export const formatSkipCause = ({ why, note }: { why: LeftOutFor; note?: string }): string =>
  note === undefined
    ? words[why]
    : `${words[why]} ${/^(by |\d|until |calendar |every )/.test(note) ? note : `(${note})`}`;
