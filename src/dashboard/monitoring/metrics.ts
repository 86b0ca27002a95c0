import type { DashboardContext, Exchange } from '../http/context.ts';

/** Everything that is measured, in Prometheus's text format. */
export async function sendMetrics(c: Exchange, { meters }: DashboardContext): Promise<Response> {
  return c.body(await meters.text(), 200, { 'Content-Type': meters.contentType });
}
