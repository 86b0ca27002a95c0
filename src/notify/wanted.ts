/** What the parts that write the messages of a notice share. */
import type { Records } from '../records/records.ts';
import type { Receiver } from '../settings/receiver.ts';
import type { Message } from './message.ts';

/** A message for those whose entry under `notify` has the word `on`. */
export interface Wanted {
  on: string;
  event: string;
  message: Message;
  /** Of several messages about one thing that are held together, the last one is sent. */
  about?: string;
  /** Only for this receiver; without it, for everyone who asked for `on`. */
  to?: string;
}

export interface FollowingDeps {
  records: Pick<Records, 'runs' | 'batches' | 'targets' | 'problems'>;
  receivers: Record<string, Receiver>;
  /** The address of the dashboard. */
  publicUrl?: string | undefined;
}
