/** The endpoints for process supervisors and Prometheus: is the process alive, is it ready, what is measured. */
import type { DashboardContext, Exchange } from '../http/context.ts';
import { brokenSentence } from '../queries/system-status.ts';

/** Longer than a failover takes. A process for which Redis is away for so long may be the one that is stuck. */
const MAX_SILENT_MS = 300_000;

/** 200 as long as the process answers, unless it has had no answer of Redis for minutes: a new process may get one. */
export const sendAlive = (c: Exchange, { redisSilentMs }: DashboardContext): Response =>
  redisSilentMs() < MAX_SILENT_MS
    ? c.text('alive\n')
    : c.text('stuck: Redis has not answered this process for five minutes\n', 503);

/**
 * 200 when Redis answers, accepts writes and delivers entries, and every role is running; else 503 with what
 * is missing. Warnings follow, one a line: work continues, but a person should look at them.
 */
export async function sendReady(c: Exchange, { health }: DashboardContext): Promise<Response> {
  const { redis, waiting, differences, moved, troubles, brokenFiles } = await health();
  const missing = [
    ...(redis === 'up' ? [] : ['Redis does not answer']),
    ...troubles.filter(({ stops }) => stops).map(({ message }) => message),
    ...waiting.map((role) => `the ${role} is not running`),
  ];
  const toLookAt = [
    ...moved.map(({ sentence }) => sentence),
    ...differences,
    ...troubles.filter(({ stops }) => !stops).map(({ message }) => message),
    ...brokenFiles.map((file) => brokenSentence(file).replace(/\.$/, '')),
  ];
  const warnings = toLookAt.map((sentence) => `warning: ${sentence}\n`).join('');
  return missing.length === 0
    ? c.text(`ready\n${warnings}`)
    : c.text(`not ready: ${missing.join(', ')}\n${warnings}`, 503);
}

/** All metrics, in Prometheus's text format. */
export async function sendMetrics(c: Exchange, { meters }: DashboardContext): Promise<Response> {
  return c.body(await meters.text(), 200, { 'Content-Type': meters.contentType });
}
