/** What a supervisor asks: is the process alive, and is it ready to work. */
import type { DashboardContext, Exchange } from '../http/context.ts';

/** 200 as long as the process answers at all. */
export const sendAlive = (c: Exchange): Response => c.text('alive\n');

/**
 * 200 when Redis answers, takes writes and hands out entries, and every role is at work; else 503 with what
 * is missing. What a person should look at although work goes on is named behind it, a line each.
 */
export async function sendReady(c: Exchange, { health }: DashboardContext): Promise<Response> {
  const { redis, waiting, differences, troubles } = await health();
  const missing = [
    ...(redis === 'up' ? [] : ['Redis does not answer']),
    ...troubles.filter(({ stops }) => stops).map(({ says }) => says),
    ...waiting.map((role) => `the ${role} is not running`),
  ];
  const toLookAt = [...differences, ...troubles.filter(({ stops }) => !stops).map(({ says }) => says)];
  const warnings = toLookAt.map((sentence) => `warning: ${sentence}\n`).join('');
  return missing.length === 0
    ? c.text(`ready\n${warnings}`)
    : c.text(`not ready: ${missing.join(', ')}\n${warnings}`, 503);
}
