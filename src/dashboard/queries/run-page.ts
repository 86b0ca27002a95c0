import type { Run } from '../../run/run.ts';

/**
 * Before which moment the page after a page of runs begins, given one run more than the page has; nothing
 * when there is none. Runs of one moment come on both pages rather than on neither.
 */
export function nextPageOf(found: readonly Run[], page: number): number | undefined {
  const [last, first] = [found[page - 1], found[page]];
  if (!last || !first) return undefined;
  const allAtOnce = found[0]?.createdAt === last.createdAt;
  return first.createdAt === last.createdAt && !allAtOnce ? last.createdAt + 1 : last.createdAt;
}
