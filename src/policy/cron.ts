/** What is wrong with a cron expression, before a scheduler stumbles over it. */
import { Cron } from 'croner';
import { validateDetailed } from 'node-cron';

/**
 * A few words about what is wrong with `expression`; nothing when it can be scheduled.
 *
 * Both libraries have to take it, since node-cron ticks and croner is the calendar, and it must fire some
 * day.
 */
export function cronFault(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== 5) {
    const seconds = fields.length === 6 ? '; seconds are not among them' : '';
    return `must have five fields (minute, hour, day of month, month, day of week), not ${fields.length}${seconds}`;
  }
  try {
    // As the calendar reads it: a day of month and a day of week both have to hold.
    const calendar = new Cron(expression, { mode: '5-part', domAndDow: true, paused: true });
    // Only a day of the month may never occur; the search for it is slow.
    if (fields[2] !== '*' && calendar.nextRun() === null) return 'never fires: there is no such day';
    const { errors } = validateDetailed(expression);
    const [first] = errors;
    return first && `is no cron expression we take (${first.message.replace(/\.$/, '')})`;
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^Cron\w*: /, '').replace(/\.$/, '') : '';
    return `is no cron expression we take${why === '' ? '' : ` (${why})`}`;
  }
}
