/**
 * Reports that are made and delivered within a second of the account's time each, for tests of which their duration is
 * no part. The sandbox takes a minute, and meanwhile a supervisor makes a round for each second.
 */
import type { WorldOptions } from './caretaker.ts';

type Before = NonNullable<WorldOptions['before']>;

/** `startWorld({ before: quickReports })` */
export const quickReports: Before = async ({ sandbox }) =>
  sandbox.mail.takes({ reportMs: 1_000, deliveryMs: 1_000 });
