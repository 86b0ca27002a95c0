import { stream } from 'hono/streaming';
import { z } from 'zod';
import { isoTime } from '../../clock.ts';
import { toSummary, toTargetReport } from '../../run/report.ts';
import { runStatuses } from '../../run/run.ts';
import { stepNamesOf } from '../../run/steps.ts';
import { visibleJson } from '../../text.ts';
import { parsePast } from '../../yaml/written-time.ts';
import { NO_RUN } from '../auth/guard.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { nextRunPage } from '../queries/paging.ts';
import { refuseQuery, sendJson } from './json.ts';
import { refuse } from './problem-document.ts';

/** A time or a duration back from now: `2026-11-01`, `2026-11-01T02:00:00Z`, `7d`, as on the command line. */
const Since = (now: number) =>
  z.string().transform((text, context) => {
    const since = parsePast(text, now);
    if (since !== undefined) return since;
    context.addIssue(`"${text}" is neither a time nor a duration, such as 2026-11-01 or 7d`);
    return z.NEVER;
  });

/** The query of the list of runs; `since` may count back from `now`. */
export const RunsQuery = (now: number) =>
  z.strictObject({
    policy: z.string().optional(),
    status: z.enum(runStatuses).optional(),
    since: Since(now).optional(),
    before: z.iso.datetime({ offset: true }).transform(Date.parse).optional(),
    limit: z.coerce.number().int().min(1).max(1000).default(100),
  });

/**
 * The runs, newest first, without their targets: `?policy=&status=&since=&before=&limit=`. When there are
 * more, the header `Link` has the address of the next page (`rel="next"`).
 */
export async function sendRuns(c: Exchange, { reader, clock }: DashboardContext): Promise<Response> {
  const query = RunsQuery(clock.now()).safeParse(c.req.query());
  if (!query.success) return refuseQuery(c, query.error);
  const { limit, ...rest } = query.data;
  const wanted = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const found = await reader.runs({ ...wanted, limit: limit + 1 });
  const runs = found.slice(0, limit);
  const next = nextRunPage(found, limit);
  if (next !== undefined) {
    const page = new URL(c.req.url);
    page.searchParams.set('before', isoTime(next));
    c.header('Link', `<${page.pathname}${page.search}>; rel="next"`);
  }
  return sendJson(c, { runs: runs.map((run) => toSummary(run, clock.now())) });
}

/**
 * One run with all its targets: the object of `runs show --json`. It is sent while the targets are read, so
 * their number does not matter. With `?targets=false`, only the run.
 */
export async function sendRun(c: Exchange, { reader, clock }: DashboardContext): Promise<Response> {
  const id = c.req.param('id') ?? '';
  const run = await reader.run(id);
  if (!run) return refuse(c, 404, 'NOT_FOUND', NO_RUN);
  const summary = toSummary(run, clock.now());
  if (c.req.query('targets') === 'false') return sendJson(c, summary);
  c.header('Content-Type', 'application/json; charset=UTF-8');
  return stream(c, async (body) => {
    await body.write(`${visibleJson(summary).slice(0, -1)},"targets":[`);
    const stepNames = stepNamesOf(run);
    let separator = '';
    for await (const target of reader.allTargets(run.id)) {
      await body.write(separator + visibleJson(toTargetReport(target, stepNames)));
      separator = ',';
    }
    await body.write(']}\n');
  });
}
