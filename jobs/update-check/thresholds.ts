/** `thresholds`: how long a problem with a site's core may last before its target fails, by conditions on the site. */
import { z } from 'zod';
import { compileExpression, type Expression, ExpressionError } from '../../src/expression/expression.ts';
import { NotShownError } from '../../src/expression/fields.ts';
import { siteIdIn } from '../../src/job/candidates.ts';
import { fieldsOfItem } from '../../src/job/fields.ts';
import type { EarlierTarget, OptionFault } from '../../src/job/job.ts';
import { duration } from '../../src/job/options.ts';

export const Threshold = z.strictObject({
  where: z
    .optional(z.string())
    .describe(
      'A CEL condition over the site and `now`. The last threshold may be without one: for all other sites.',
    ),
  max_age: duration().describe('How long the problem may last before the target fails.'),
});
export type Threshold = z.output<typeof Threshold>;

const variables = { site: fieldsOfItem('listSites') };
const compile = (where: string): Expression => compileExpression(where, variables, 'condition');

/** The conditions, and where they are in the options. */
export const thresholdConditions = (thresholds: readonly Threshold[]) =>
  thresholds.flatMap(({ where }, index) =>
    where === undefined
      ? []
      : [{ path: ['thresholds', index, 'where'], expression: compile(where), variables }],
  );

/** Everything that is wrong with the thresholds of a policy. */
export function thresholdFaults(thresholds: readonly Threshold[]): OptionFault[] {
  return thresholds.flatMap(({ where }, index): OptionFault[] => {
    const path = ['thresholds', index];
    if (where === undefined) {
      if (index === thresholds.length - 1) return [];
      const message = 'A threshold without "where" is for all sites, so those after it would never apply.';
      return [{ path, message, suggestion: 'move it to the end' }];
    }
    try {
      const { type } = compile(where);
      if (type === 'bool' || type === 'dyn') return [];
      const message = `The condition must be true or false, but it is ${type}.`;
      return [{ path: [...path, 'where'], offset: 0, message }];
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      const { message, suggestion, offset = 0 } = error;
      return [{ path: [...path, 'where'], message, suggestion, offset }];
    }
  });
}

/** How long a problem of a site may last; undefined: not at all. `not-shown`: a condition lacks a field. */
export type MaxAgeOf = (site: object) => number | undefined | 'not-shown';

/** Finds the first threshold that holds for a site. */
export function compileThresholds(thresholds: readonly Threshold[], now: Date): MaxAgeOf {
  const compiled = thresholds.map(({ where, max_age }) => ({
    condition: where === undefined ? undefined : compile(where),
    max_age,
  }));
  return (site) => {
    try {
      return compiled.find(({ condition }) => !condition || condition.of({ site }, now) === true)?.max_age;
    } catch (error) {
      // A condition without a value, as that of an empty list, cannot be decided either.
      if (error instanceof NotShownError || error instanceof ExpressionError) return 'not-shown';
      throw error;
    }
  };
}

/**
 * Since when sites have had their problems: by the findings of the last check. A site that it did not report has
 * its problem since now. Costs no request.
 */
export async function readSince(earlier: AsyncGenerator<EarlierTarget>): Promise<Map<string, number>> {
  const since = new Map<string, number>();
  let last: number | undefined;
  for await (const { at, id, findings } of earlier) {
    if (last !== undefined && at !== last) break;
    last = at;
    const site = siteIdIn(id);
    if (site === id) continue;
    const known = findings.flatMap((finding) => finding.since ?? []);
    since.set(site, Math.min(at, ...known));
  }
  return since;
}
