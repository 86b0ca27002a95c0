/** Schedules in words: `at 02:00, every day`. */
import cronstrue from 'cronstrue';
import type { Schedule } from '../policy/policy.ts';

/** The schedule in words, without its time zone. */
export const scheduleInWords = ({ cron }: Pick<Schedule, 'cron'>): string => cron.map(cronInWords).join('; ');

/** A cron expression in words; as it is when it has a form without words. */
export function cronInWords(expression: string): string {
  const words = cronstrue.toString(expression, {
    use24HourTimeFormat: true,
    // As in `parseCron`: a day of the month and a day of the week both have to match.
    logicalAndDayFields: true,
    throwExceptionOnParseError: false,
  });
  if (words.startsWith('An error occurred')) return expression;
  const text = words.charAt(0).toLowerCase() + words.slice(1);
  return /^at [^,]*$/.test(text) && !text.includes('past the hour') ? `${text}, every day` : text;
}
