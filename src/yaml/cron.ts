/** Checks cron expressions when a policy is read. */
import { createRequire } from 'node:module';

/** Loaded with the first expression: most commands read a configuration without one. */
const load = createRequire(import.meta.url);

/** What a field may hold: in a list (`values`, `names`, `others`), and alone. */
const fields: { values: string; steps: string; names?: string; others?: string; alone?: string }[] = [
  { values: '[0-5]?[0-9]', steps: '[1-5]?[0-9]|60' },
  { values: '1?[0-9]|2[0-3]', steps: '1?[0-9]|2[0-4]' },
  {
    values: '[1-9]|[12][0-9]|3[01]',
    steps: '[12]?[0-9]|3[01]',
    others: 'l|0*([1-9]|[12][0-9]|3[01])w',
    alone: '[?]|lw',
  },
  {
    values: '[1-9]|1[0-2]',
    steps: '[0-9]|1[0-2]',
    names: 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec',
  },
  {
    values: '[0-7]',
    steps: '[0-7]',
    names: 'sun|mon|tue|wed|thu|fri|sat',
    others: '(0*[0-7]|sun|mon|tue|wed|thu|fri|sat)(l|#(0*[1-5]|l))',
    alone: '[?]',
  },
];
const anyCase = (names: string) => names.replace(/[a-z]/g, (c) => `[${c}${c.toUpperCase()}]`);
const or = (pattern: string | undefined) => (pattern === undefined ? '' : `|${anyCase(pattern)}`);

function fieldPattern({ values, steps, names, others, alone }: (typeof fields)[number]): string {
  const value = `(0*(${values})${or(names)})`;
  const step = `(/0*(?!0)(${steps}))`;
  const item = `([*]${step}?|${value}(-${value}${step}?)?${or(others)})`;
  return `(${item}(,${item})*${or(alone)})`;
}

/**
 * The form of an expression, for a JSON Schema: five fields of numbers, names, ranges and steps. Whether a range
 * begins before its end, and whether there is such a day, is not a part of it.
 */
export const cronPattern = new RegExp(`^ *${fields.map(fieldPattern).join(' +')} *$`);

/**
 * What is wrong with `expression`, to follow its name in a sentence; undefined when it can be scheduled.
 *
 * Both libraries have to accept it, because each alone takes forms by mistake; croner computes the scheduled
 * times. It must have at least one time in the future.
 */
export function cronFault(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== 5) {
    const seconds = fields.length === 6 ? '; seconds are not among them' : '';
    return `must have five fields (minute, hour, day of month, month, day of week), not ${fields.length}${seconds}`;
  }
  const fault = specialFault(fields);
  if (fault !== undefined) return fault;
  const { Cron } = load('croner') as typeof import('croner');
  const { validateDetailed } = load('node-cron') as typeof import('node-cron');
  try {
    // As for scheduled times: day of month and day of week both have to match.
    const calendar = new Cron(expression, { mode: '5-part', domAndDow: true, paused: true });
    // Only a day of the month may never occur; the search for it is slow.
    if (fields[2] !== '*' && calendar.nextRun() === null) return 'never fires: there is no such day';
    // node-cron does not know FRI#L, which is the same as FRIL.
    const { errors } = validateDetailed(expression.replace(/#L\b/gi, 'L'));
    const [first] = errors;
    if (!first && !cronPattern.test(expression)) return 'is no cron expression we take';
    return first && `is no cron expression we take (${first.message.replace(/\.$/, '')})`;
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^Cron\w*: /, '').replace(/\.$/, '') : '';
    return `is no cron expression we take${why === '' ? '' : ` (${why})`}`;
  }
}

const isSpecial = (item: string): boolean => /^L$|\dL$|^L[W-]|^\d*W\d*$|W$|#/i.test(item);

/** What is wrong with L, W and # in the fields of an expression. */
function specialFault([minute = '', hour = '', day = '', month = '', weekday = '']: readonly string[]):
  | string
  | undefined {
  const other = [minute, hour, month].flatMap((field) => field.split(',')).find(isSpecial);
  if (other !== undefined)
    return `has "${other}" in a wrong field: L, W and # are for the day of month (third) and the day of week (fifth)`;
  for (const item of day.split(',')) {
    if (item.includes('#'))
      return `has "${item}" as a day of month: # is for the day of week (fifth field), such as MON#2`;
    if (/^L[+-]/i.test(item))
      return `has "${item}": L is the last day of the month, and no other day is counted from it`;
    if (/W/i.test(item) && !/^(\d{1,2}|L)W$/i.test(item))
      return `has "${item}": W follows one day of the month, such as 15W, or L as in LW`;
    if (/^LW$/i.test(item) && day.includes(',')) return 'has LW in a list: it has to stand alone';
  }
  for (const item of weekday.split(',')) {
    if (/^L$/i.test(item))
      return 'has L alone as the day of week: it follows a day, such as 5L or FRI#L, the last Friday of a month';
    if (/^\dW$/i.test(item))
      return `has "${item}" as the day of week: W is for the day of month (third field)`;
    if (item.includes('#') && !/^([0-7]|[a-z]{3})#([1-5]|L)$/i.test(item))
      return `has "${item}": # stands between one day of week and a number from 1 to 5, or L, such as MON#2 or FRI#L`;
  }
  return undefined;
}
