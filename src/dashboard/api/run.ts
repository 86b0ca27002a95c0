import { stream } from 'hono/streaming';
import { toSummary, toTargetReport } from '../../run/report.ts';
import { visibleJson } from '../../visible.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { refuse } from './problem.ts';

/**
 * One run with all its targets: the object of `runs show --json`. Sent as it is read, however many targets
 * there are.
 */
export async function sendRun(c: Exchange, { reader }: DashboardContext): Promise<Response> {
  const id = c.req.param('id') ?? '';
  const run = await reader.run(id);
  if (!run) return refuse(c, 404, 'not_found', 'There is no such run.');
  c.header('Content-Type', 'application/json; charset=UTF-8');
  return stream(c, async (body) => {
    await body.write(`${visibleJson(toSummary(run)).slice(0, -1)},"targets":[`);
    let between = '';
    for await (const target of reader.allTargets(run.id)) {
      await body.write(between + visibleJson(toTargetReport(target)));
      between = ',';
    }
    await body.write(']}\n');
  });
}
