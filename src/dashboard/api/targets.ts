import { z } from 'zod';
import { toTargetReport } from '../../run/report.ts';
import { outcomes } from '../../run/run.ts';
import { stepNamesOf } from '../../run/steps.ts';
import { NO_RUN } from '../auth/guard.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import type { TargetQuery } from '../queries/paging.ts';
import { refuseQuery, sendJson } from './json.ts';
import { refuse } from './problem-document.ts';

/** The query of the targets of a run. */
export const TargetsQuery = z.strictObject({
  outcome: z.enum([...outcomes, 'open']).optional(),
  search: z.string().max(200).optional(),
  from: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
});

/**
 * A page of a run's targets in the order of the plan: `?outcome=&search=&from=&limit=`. `next` is the `from` of
 * the next page, null at the end. With a filter, a page shorter than `limit` may still have a next one.
 */
export async function sendTargets(c: Exchange, { reader }: DashboardContext): Promise<Response> {
  const query = TargetsQuery.safeParse(c.req.query());
  if (!query.success) return refuseQuery(c, query.error);
  const run = await reader.run(c.req.param('id') ?? '');
  if (!run) return refuse(c, 404, 'NOT_FOUND', NO_RUN);
  const { outcome, search, from, limit } = query.data;
  const wanted: TargetQuery = { from, limit, ...(outcome ? { outcome } : {}), ...(search ? { search } : {}) };
  const { targets, next } = await reader.targets(run.id, wanted);
  const more = next !== undefined && next < run.counts.planned;
  const stepNames = stepNamesOf(run);
  const reports = targets.map((target) => toTargetReport(target, stepNames));
  return sendJson(c, { targets: reports, next: more ? next : null });
}

/** The results of one target in its last runs, newest first. */
export async function sendTarget(c: Exchange, { reader }: DashboardContext): Promise<Response> {
  const targetRuns = await reader.runsOfTarget(c.req.param('account') ?? '', c.req.param('id') ?? '');
  return sendJson(c, {
    runs: targetRuns.map(({ run, target }) => ({
      run: run.id,
      policy: run.policy,
      status: run.status,
      target: toTargetReport(target, stepNamesOf(run)),
    })),
  });
}
