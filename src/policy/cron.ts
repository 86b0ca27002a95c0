/** Checks cron expressions when a policy is read. */
import { Cron } from 'croner';
import { validateDetailed } from 'node-cron';

/**
 * What is wrong with `expression`, to follow its name in a sentence; undefined when it can be scheduled.
 *
 * Both libraries have to accept it, because node-cron ticks and croner computes the scheduled times. It must
 * have at least one time in the future.
 */
export function cronFault(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== 5) {
    const seconds = fields.length === 6 ? '; seconds are not among them' : '';
    return `must have five fields (minute, hour, day of month, month, day of week), not ${fields.length}${seconds}`;
  }
  try {
    // As for scheduled times: day of month and day of week both have to match.
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
