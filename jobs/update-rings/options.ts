/** The options of a policy with rings. */
import { z } from 'zod';
import { recurrences } from '../../src/contract/operations/auto-updates.ts';
import { DAY_MS } from '../../src/dates.ts';
import { compileExpression, type Expression, ExpressionError } from '../../src/expression/expression.ts';
import { fieldsOfItem } from '../../src/job/fields.ts';
import type { OptionFault } from '../../src/job/job.ts';
import { duration, percent } from '../../src/job/options.ts';

const count = z.int().min(0);
const RingOptions = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/)
    .describe('Lower-case letters, digits and hyphens.'),
  where: z
    .string()
    .optional()
    .describe('A CEL condition over the site. The first ring whose condition holds takes the site.'),
  percent: percent(1, 100).optional().describe('This share of all sites that no condition takes.'),
});

export const Options = z.strictObject({
  rings: z
    .array(RingOptions)
    .min(2)
    .describe(
      'The rings, the first to be updated first. Each has `name`, and `where`, `percent`, or neither: all others.',
    ),
  updates: z
    .strictObject({
      core: z.boolean().default(false).describe('Default false.'),
      plugins: z.enum(['all', 'none']).default('all').describe('`all`, the default, or `none`.'),
      themes: z.enum(['all', 'none']).default('all').describe('`all`, the default, or `none`.'),
      except: z
        .array(z.string())
        .default([])
        .describe(
          'Filenames that no later ring gets. The first ring always takes all, because only that shows what exists.',
        ),
    })
    .prefault({})
    .describe('What is updated.'),
  native: z
    .strictObject({
      schedule: z.enum(recurrences).default('daily').describe('Default daily.'),
      at: z
        .string()
        .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 02:00')
        .default('02:00')
        .describe("When the first ring runs, in the policy's time zone. Default 02:00."),
      apart: duration(3_600_000)
        .prefault('3h')
        .describe(
          'How much later each further ring runs, so that a look between them sees a version that came out that night. Default 3h.',
        ),
      backup: z.boolean().default(true).describe('A backup before each update. Default true.'),
      visual_regression: z.boolean().default(false).describe('A comparison of screenshots. Default false.'),
    })
    .prefault({})
    .describe("The settings of the service's schedules."),
  soak: duration(3_600_000)
    .prefault('48h')
    .describe(
      'How long a version has to stay on the sites of a ring before the next ring gets it. Default 48h.',
    ),
  evidence: z
    .strictObject({
      max_failed: count
        .default(0)
        .describe('How many sites whose update or sync failed a version may have. Default 0.'),
      max_disconnected: count
        .default(0)
        .describe('How many sites that are disconnected a version may have. Default 0.'),
      max_hacked: count.default(0).describe('How many sites with malware a version may have. Default 0.'),
      findings_of: z
        .array(z.string())
        .default([])
        .describe(
          'Policies that have to check each site after its updates: one on which they find a new error is broken. Default none.',
        ),
      max_found: count
        .default(0)
        .describe('How many sites with such an error a version may have. Default 0.'),
      min_sites: z.int().min(1).default(1).describe('How many sites have to take a version. Default 1.'),
      usual: percent(0, 100)
        .prefault('1%')
        .describe('The share of sites that break whatever they get. Default 1%.'),
      chance: percent(0, 100)
        .prefault('0.5%')
        .describe(
          'A version is suspect when as many broken sites have this probability or less. Default 0.5%.',
        ),
    })
    .prefault({})
    .describe('What proves a version, and what makes it suspect.'),
  when_bad: z
    .strictObject({
      hold: z
        .boolean()
        .default(true)
        .describe(
          'Nothing is promoted past a ring where sites broke and no version explains it. Default true.',
        ),
      quarantine: z.boolean().default(true).describe('A suspect version leaves every ring. Default true.'),
      retry: duration(86_400_000)
        .prefault('7d')
        .describe(
          'How long the first ring leaves a suspect out after a site took it; then it takes everything again, which shows newer versions. Default 7d.',
        ),
      note_on_sites: z.boolean().default(false).describe('Each broken site gets a note. Default false.'),
    })
    .prefault({})
    .describe('What is done when sites break.'),
  release: z
    .record(z.string(), z.string())
    .default({})
    .describe(
      'Versions that a person looked at and lets pass, such as `{ "plugin shop/shop.php": "9.5.3" }`: no longer held or suspect.',
    ),
  drift: z
    .enum(['correct', 'report'])
    .default('correct')
    .describe(
      'A schedule of a ring that a person changed: `correct` changes it back, `report` leaves it. Default correct.',
    ),
  lookback: duration(86_400_000)
    .prefault('60d')
    .describe('How far back the history is read: longer than `soak`. Default 60d.'),
});
export type Options = z.output<typeof Options>;

const variables = { site: fieldsOfItem('listSites') };
export const compileRing = (where: string): Expression => compileExpression(where, variables, 'condition');

/** The conditions, and where they are in the options. */
export const ringConditions = ({ rings }: Options) =>
  rings.flatMap(({ where }, index) =>
    where === undefined
      ? []
      : [{ path: ['rings', index, 'where'], expression: compileRing(where), variables }],
  );

/** Everything that is wrong with the rings that their schema cannot detect. */
export function ringFaults(
  { rings, soak, lookback, native }: Options,
  filters: readonly string[],
): OptionFault[] {
  const faults: OptionFault[] = rings.flatMap(({ name, where, percent }, index): OptionFault[] => {
    const path = ['rings', index];
    const rest = rings.slice(0, index).find((one) => one.where === undefined && one.percent === undefined);
    if (rings.findIndex((one) => one.name === name) < index)
      return [{ path: [...path, 'name'], message: `Two rings are called "${name}".` }];
    if (where !== undefined && percent !== undefined)
      return [{ path, message: 'A ring has "where" or "percent", not both.' }];
    if (where === undefined && rest)
      return [
        {
          path,
          message: `"${rest.name}" takes all other sites, so this ring would get none.`,
          suggestion: 'move it before that ring',
        },
      ];
    return where === undefined ? [] : whereFaults(where, [...path, 'where']);
  });
  if (lookback <= soak)
    faults.push({ path: ['lookback'], message: '"lookback" must be longer than "soak".' });
  if ((rings.length - 1) * native.apart >= DAY_MS)
    faults.push({
      path: ['native', 'apart'],
      message: `The last of ${rings.length} rings would run a day or more after the first, at the time of an earlier one.`,
      suggestion: 'make "apart" shorter',
    });
  if (filters.length > 0)
    faults.push({
      path: ['rings'],
      message: '"select" has no effect here: the conditions of the rings choose the sites.',
      suggestion: 'remove "select.filters"',
    });
  return faults;
}

function whereFaults(where: string, path: (string | number)[]): OptionFault[] {
  try {
    const { type } = compileRing(where);
    if (type === 'bool' || type === 'dyn') return [];
    return [{ path, offset: 0, message: `The condition must be true or false, but it is ${type}.` }];
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { message, suggestion, offset = 0 } = error;
    return [{ path, message, suggestion, offset }];
  }
}
