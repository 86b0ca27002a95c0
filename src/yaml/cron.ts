/** Cron expressions and time zones in configuration and policy files. */
import { createRequire } from 'node:module';
import { z } from 'zod';
import { timezoneHint, timezoneNameFault, timezoneNames } from './timezones.ts';

// Checks cron expressions when a policy is read.

/** Loaded with the first expression: most commands read a configuration without one. */
const load = createRequire(import.meta.url);

/** What a field may hold: in a list (`values`, `names`, `others`), and alone. */
const fields: {
  what: string;
  from: number;
  to: number;
  values: string;
  steps: string;
  names?: string;
  others?: string;
  alone?: string;
}[] = [
  { what: 'minute', from: 0, to: 59, values: '[0-5]?[0-9]', steps: '[1-5]?[0-9]|60' },
  { what: 'hour', from: 0, to: 23, values: '1?[0-9]|2[0-3]', steps: '1?[0-9]|2[0-4]' },
  {
    what: 'day of month',
    from: 1,
    to: 31,
    values: '[1-9]|[12][0-9]|3[01]',
    steps: '[12]?[0-9]|3[01]',
    others: 'l|0*([1-9]|[12][0-9]|3[01])w',
    alone: '[?]|lw',
  },
  {
    what: 'month',
    from: 1,
    to: 12,
    values: '[1-9]|1[0-2]',
    steps: '[0-9]|1[0-2]',
    names: 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec',
  },
  {
    what: 'day of week',
    from: 0,
    to: 7,
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
  const texts = expression.trim().split(/\s+/);
  const fault = wholeFault(expression.trim(), texts) ?? specialFault(texts) ?? fieldFault(texts);
  if (fault !== undefined) return fault;
  const { Cron } = load('croner') as typeof import('croner');
  const { validateDetailed } = load('node-cron') as typeof import('node-cron');
  try {
    // As for scheduled times: day of month and day of week both have to match.
    const calendar = new Cron(expression, { mode: '5-part', domAndDow: true, paused: true });
    // Only a day of the month may never occur; the search for it is slow.
    if (texts[2] !== '*' && calendar.nextRun() === null) return 'never fires: there is no such day';
    // node-cron does not know FRI#L, which is the same as FRIL.
    const { errors } = validateDetailed(expression.replace(/#L\b/gi, 'L'));
    const hasOnlySpaces = !/[^\S ]/.test(expression);
    return errors.length === 0 && hasOnlySpaces ? undefined : 'is no cron expression we take';
  } catch {
    return 'is no cron expression we take';
  }
}

const nicknames: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** What is wrong with it as a whole: a form of other schedulers, or the number of its fields. */
function wholeFault(text: string, texts: readonly string[]): string | undefined {
  if (text === '') return 'is empty: it has five fields, such as 0 2 * * *';
  const [, zone] = /^(?:CRON_)?TZ=["']?([^\s"']*)/i.exec(text) ?? [];
  if (zone !== undefined)
    return `does not hold the time zone: write "timezone: ${zone || 'Europe/Berlin'}" beside it`;
  const [word = ''] = /^@\w*/.exec(text) ?? [];
  const same = Object.hasOwn(nicknames, word.toLowerCase()) ? nicknames[word.toLowerCase()] : undefined;
  if (same !== undefined) return `has five fields: write ${word} as ${same}`;
  if (word !== '') return `has five fields, such as 0 2 * * * or */5 * * * *: there is no ${word}`;
  const [, hour, minute] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hour !== undefined) return `has five fields: write ${text} as ${Number(minute)} ${Number(hour)} * * *`;
  if (texts.length === 5) return undefined;
  const isDay = (at: number) => /^[a-z]{3,}$/i.test(texts[at] ?? '');
  const more =
    isDay(4) && isDay(5) ? '; a list is written with commas: MON,FRI' : '; seconds are not among them';
  return `must have five fields (minute, hour, day of month, month, day of week), not ${texts.length}${texts.length === 6 ? more : ''}`;
}

const patterns = new Map<Field, RegExp>();
function patternOf(field: Field): RegExp {
  const pattern = patterns.get(field) ?? new RegExp(`^${fieldPattern(field)}$`);
  patterns.set(field, pattern);
  return pattern;
}

/** What is wrong with the first wrong field, with its values as they are written. */
function fieldFault(texts: readonly string[]): string | undefined {
  for (const [at, field] of fields.entries()) {
    const text = texts[at] ?? '';
    const pattern = patternOf(field);
    if (pattern.test(text)) {
      const reversed = text.split(',').find((item) => isReversed(item, field));
      if (reversed !== undefined) return reversedFault(reversed, field);
      continue;
    }
    for (const item of text.split(',')) {
      if (pattern.test(item)) continue;
      return item === '' ? `has an empty entry in "${text}", the ${field.what}` : itemFault(item, field);
    }
    return `has "${text}" as the ${field.what}, which has to stand alone`;
  }
  return undefined;
}

type Field = (typeof fields)[number];

/** What is wrong with an entry that is not of the form of its field. */
function itemFault(item: string, field: Field): string {
  const { what, to } = field;
  const has = (part: string) => `has "${part}" as the ${what}`;
  if (/^H\b|~/i.test(item)) return `${has(item)}: write a ${what}; "jitter" spreads the runs`;
  if (item === '?') return `${has(item)}: write *`;
  const [, range = '', first = '', last, step] = /^(\*|(-?\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(item) ?? [];
  const ends = range === '*' ? [] : [first, last ?? first];
  const wrong = ends.find((end) => valueFault(end, field) !== undefined);
  if (range !== '' && wrong !== undefined) return `${has(wrong)}: ${valueFault(wrong, field)}`;
  if (step === undefined) return `${has(item)}: ${forms(field)}`;
  if (range !== '*' && last === undefined)
    return `has "${item}": a step follows * or a range, such as ${range}-${to}/${step}`;
  return `has "${item}": a step goes from 1 to ${what === 'minute' || what === 'hour' ? to + 1 : to}`;
}

/** What is wrong with a number or a name. */
function valueFault(value: string, { what, from, to, names = '', ...field }: Field): string | undefined {
  if (/^-?\d+$/.test(value))
    return Number(value) >= from && Number(value) <= to
      ? undefined
      : `it goes from ${from} to ${to}${what === 'day of week' ? ', both Sunday' : ''}`;
  const name = names.split('|').find((one) => one !== '' && value.toLowerCase().startsWith(one));
  if (name === value.toLowerCase()) return undefined;
  if (name !== undefined && fullNames.test(value)) return `write ${name.toUpperCase()}`;
  return forms({ what, from, to, names, ...field });
}

const fullNames =
  /^(?:sun|mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|satur)(?:day)?s?$|^(?:january|february|march|april|june?|july?|august|sept(?:ember)?|october|november|december)$/i;

function forms({ from, to, names = '' }: Field): string {
  const [first, second] = names.toUpperCase().split('|').slice(1);
  const orNames = second === undefined ? '' : ` or ${first}, ${second}, ...`;
  return `it takes numbers from ${from} to ${to}${orNames}, lists (${from + 1},${from + 3}), ranges (${from + 1}-${from + 3}) and steps (*/2)`;
}

/** The numbers at the ends of a range; undefined for anything else. */
function rangeOf(item: string, { names = '', from }: Field): [number, number] | undefined {
  const found = /^(\w+)-(\w+)(?:\/\d+)?$/.exec(item);
  if (!found) return undefined;
  const numberOf = (text = '') =>
    /^\d+$/.test(text) ? Number(text) : names.split('|').indexOf(text.toLowerCase()) + from;
  return [numberOf(found[1]), numberOf(found[2])];
}

function isReversed(item: string, field: Field): boolean {
  const [first = 0, last = 0] = rangeOf(item, field) ?? [];
  return first > last;
}

function reversedFault(item: string, field: Field): string {
  const [first = 0, last = 0] = rangeOf(item, field) ?? [];
  const highest = field.what === 'day of week' ? 6 : field.to;
  const part = (from: number, to: number) => (from >= to ? String(from) : `${from}-${to}`);
  // Sunday is 0 and 7.
  const parts = first > highest ? part(0, last) : `${part(first, highest)},${part(field.from, last)}`;
  return `has the range "${item}" as the ${field.what}, which ends before it begins${item.includes('/') ? '' : `: write ${parts}`}`;
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

/**
 * A schema that refuses texts for which `fault` returns a message, with a suggestion from `hint`. `hasForm` is
 * what the JSON Schema can check of it.
 */
const judged = (
  fault: (text: string) => string | undefined,
  hasForm: (text: string) => boolean,
  hint: (text: string) => string | undefined = () => undefined,
) =>
  z.string().superRefine((text, context) => {
    const message = fault(text);
    if (message === undefined) return;
    const params = { suggestion: hint(text), form: !hasForm(text) };
    context.addIssue({ code: 'custom', message, params });
  });

export const cron = judged(cronFault, (text) => cronPattern.test(text)).meta({
  title: 'cron expression',
  pattern: cronPattern.source,
  patternErrorMessage: 'This is not a cron expression of five fields, such as 0 2 * * *.',
  examples: ['0 2 * * *', '*/15 * * * *', '0 7 * * mon-fri', '0 3 1 * *'],
});

export const timezone = judged(timezoneNameFault, () => false, timezoneHint).meta({
  title: 'time zone',
  // All names take 20 ms, and only the JSON Schema needs them.
  get enum() {
    return [...timezoneNames()];
  },
});
