/** A test message to a receiver (`caretaker notify test`, and `Send a test` on the page). */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Receiver } from '../settings/receiver.ts';
import { send } from './channels.ts';
import { openConnections, type Sent } from './post.ts';

/** Its result, and how long it took. */
export type TestResult = Sent & { ms: number };

/** Attempts it once, within 30 s. Nothing is recorded, and nothing is tried again. `id`: of the message, for its receiver. */
export async function sendTest(
  receiver: Receiver,
  clock: Pick<Clock, 'now'>,
  id: string = randomUUID(),
): Promise<TestResult> {
  const dispatcher = openConnections(() => receiver.allow_private === true);
  const now = clock.now();
  try {
    const delivery = {
      id: `msg_${id}`,
      to: 'test',
      event: 'test',
      at: now,
      message: { text: 'This is a test message of Caretaker. Nothing has happened.' },
    };
    const sent = await send(delivery, receiver, { now, dispatcher });
    return { ...sent, ms: clock.now() - now };
  } finally {
    await dispatcher.close();
  }
}

/** The result of a test message, as one sentence. */
export function formatTestResult(receiver: string, sent: Sent): string {
  if (sent.is !== 'delivered') return `"${receiver}" was not notified: ${sent.why}.`;
  const answer = sent.status === undefined ? '' : ` (HTTP ${sent.status})`;
  const but = sent.why === undefined ? '' : `, but ${sent.why}`;
  return `"${receiver}" has accepted a test message${answer}${but}.`;
}
