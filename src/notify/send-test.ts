/** A test message to a receiver (`caretaker notify test`). */
import { randomUUID } from 'node:crypto';
import type { Receiver } from '../settings/receiver.ts';
import type { Sent } from './channel.ts';
import { send } from './channels.ts';
import { openConnections } from './post.ts';

/** Attempts it once, within 30 s. Nothing is recorded, and nothing is tried again. */
export async function sendTest(receiver: Receiver, now: number): Promise<Sent> {
  const dispatcher = openConnections();
  try {
    const delivery = {
      id: `msg_${randomUUID()}`,
      to: 'test',
      event: 'test',
      at: now,
      message: { text: 'This is a test message of Caretaker. Nothing has happened.' },
    };
    return await send(delivery, receiver, { now, dispatcher });
  } finally {
    await dispatcher.close();
  }
}
