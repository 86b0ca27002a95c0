/** What a supervisor asks: is the process alive, and is it ready to work. */
import type { Exchange, Parts } from '../http/parts.ts';
import type { Health } from '../options.ts';

/** A Redis that says nothing for so long counts as down. */
const PATIENCE_MS = 2_000;

/** 200 as long as the process answers at all. */
export const sendAlive = (c: Exchange): Response => c.text('alive\n');

/** 200 when Redis answers and every role is at work, else 503 with what is missing. */
export async function sendReady(c: Exchange, parts: Parts): Promise<Response> {
  const { redis, waiting } = await healthOf(parts);
  const missing = [
    ...(redis === 'up' ? [] : ['Redis does not answer']),
    ...waiting.map((role) => `the ${role} is not at work`),
  ];
  return missing.length === 0 ? c.text('ready\n') : c.text(`not ready: ${missing.join(', ')}\n`, 503);
}

/** The health as far as it can be found out in two seconds: silence is taken for a Redis that is down. */
export async function healthOf({ health, clock }: Parts): Promise<Health> {
  const given = new AbortController();
  const silence = clock.sleep(PATIENCE_MS, given.signal).then(() => unknown);
  try {
    return await Promise.race([health(), silence]);
  } finally {
    given.abort();
  }
}

const unknown: Health = { redis: 'down', roles: [], waiting: [], brokenFiles: [] };
