import type { Exchange, Parts } from '../http/context.ts';

/** Everything that is measured, in Prometheus's text format. */
export async function sendMetrics(c: Exchange, { meters }: Parts): Promise<Response> {
  return c.body(await meters.text(), 200, { 'Content-Type': meters.contentType });
}
