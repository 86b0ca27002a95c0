/** The endpoints for process supervisors and Prometheus: is the process alive, is it ready, what is measured. */
import type { DashboardContext, Exchange } from '../http/context.ts';
import { brokenSentence } from '../queries/system-status.ts';

/** 200 as long as the process answers at all. */
export const sendAlive = (c: Exchange): Response => c.text('alive\n');

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
