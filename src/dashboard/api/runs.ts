import { z } from 'zod';
import { toSummary } from '../../run/report.ts';
import { runStatuses } from '../../run/run.ts';
import type { Exchange, Parts } from '../http/parts.ts';

const Query = z.strictObject({
  policy: z.string().optional(),
  status: z.enum(runStatuses).optional(),
  since: z.iso.datetime({ offset: true }).transform(Date.parse).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
});

/** The runs, newest first, without their targets: `?policy=&status=&since=&limit=`. */
export async function sendRuns(c: Exchange, { reader }: Parts): Promise<Response> {
  const query = Query.safeParse(c.req.query());
  if (!query.success) {
    return c.json({ error: { code: 'bad_query', message: z.prettifyError(query.error) } }, 400);
  }
  const { limit, ...rest } = query.data;
  const wanted = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const runs = await reader.runs({ ...wanted, limit });
  return c.json({ runs: runs.map(toSummary) });
}
