/** Notifications: lists them, sends them again, and tests receivers. */
import { isoMinute, systemClock } from '../../clock.ts';
import { type DeliveryReport, listDeliveries, resendDelivery } from '../../control/commands/notifications.ts';
import type { DeliveryState } from '../../records/filter-values.ts';
import { suggestionFor } from '../../suggest.ts';
import { isOnServer, withClient, withReader } from '../client.ts';
import { type GlobalOptions, type ReasonOption, settingsOf } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { type List, showList } from '../output/list.ts';
import type { Terminal } from '../output/terminal.ts';
import { sinceText } from '../parse-time.ts';

/** Lists notifications, newest first. */
export const listNotifications = (
  terminal: Terminal,
  options: GlobalOptions & { state?: DeliveryState[]; to?: string[]; since?: string; limit: number },
): Promise<number> =>
  withReader('records', terminal, options, async ({ read, clock }) => {
    const { state, to, limit } = options;
    const query = { state, to, since: sinceText(options.since, clock.now()), limit };
    const { deliveries, next } = await read(listDeliveries, query, { deliveries: [], next: null });
    return showList(terminal, options, list, {
      rows: deliveries,
      none:
        (state ?? to ?? options.since) ? 'There is no such notification.' : 'There are no notifications yet.',
      more: next !== null && 'There are older notifications.',
    });
  });

const styles = { delivered: 'green', pending: 'yellow', dead: 'red' } as const;

/** The last error of one that has not arrived, and when the next attempt is. */
function remarkOn({ state, attempts, next_attempt_at: due }: DeliveryReport): string {
  if (state === 'delivered') return '';
  const why = attempts.findLast((one) => one.why !== null)?.why ?? '';
  return due === null ? why : `${why}${why === '' ? '' : '; '}next attempt ${isoMinute(due)}`;
}

const list: List<DeliveryReport> = {
  table: {
    time: ({ at }) => isoMinute(at),
    to: ({ to }) => to,
    event: ({ event }) => event,
    subject: ({ run, policy }) => run ?? policy,
    state: ({ state }, { paint }) => paint(styles[state], state),
    attempts: ({ attempts }) => attempts.length,
    id: ({ id }) => id,
    detail: remarkOn,
  },
  shrink: ['detail: 16', 'subject: 12', 'detail: 0'],
  csv: ['id at to event policy run state next_attempt_at text'],
};

const MAX_RESENT = 1_000;

/** Has notifications sent again, by a daemon. */
export const resendNotifications = (
  terminal: Terminal,
  ids: string[],
  options: GlobalOptions & ReasonOption & { dead?: true; to?: string[]; since?: string },
): Promise<number> =>
  withClient('records', terminal, options, async ({ act, read, clock }) => {
    const { dead, to, since, reason } = options;
    if (ids.length > 0 === (dead === true))
      throw new UsageError('Give the ids of notifications, or --dead for all that were given up.');
    if (!dead && (to ?? since)) throw new UsageError('--to and --since need --dead.');
    const query = { state: 'dead', to, since: sinceText(since, clock.now()), limit: MAX_RESENT } as const;
    const found = dead
      ? (await read(listDeliveries, query, { deliveries: [], next: null })).deliveries.map(({ id }) => id)
      : ids;
    if (found.length === 0) terminal.message('No notification that was given up matches.');
    // The oldest first, as they were made.
    for (const delivery of found.toReversed()) {
      await act(resendDelivery, { delivery, reason });
      terminal.message(`${delivery} is sent again, by the next process that works on runs.`);
    }
    return exit.ok;
  });

/** Sends a test message to a receiver, once: here, where nothing is recorded, or from a server. */
export async function testReceiver(
  terminal: Terminal,
  name: string,
  options: GlobalOptions,
): Promise<number> {
  const { sendTest, formatTestResult } = await import('../../notify/send-test.ts');
  if (isOnServer(terminal, options)) {
    const { sentIn, testReceiver: test } = await import('../../control/commands/test-receiver.ts');
    return withClient('caretaker', terminal, options, async (client) => {
      const report = await client.act(test, { receiver: name });
      terminal.message(formatTestResult(name, sentIn(report)));
      return report.result === 'delivered' ? exit.ok : exit.notAllWell;
    });
  }
  const { notifications } = settingsOf(terminal, options);
  const receiver = notifications[name];
  if (!receiver) {
    const hint = suggestionFor(name, Object.keys(notifications));
    throw new UsageError(
      `There is no "${name}" under notifications in the configuration${hint ? `: ${hint}` : '.'}`,
    );
  }
  const sent = await sendTest(receiver, systemClock);
  terminal.message(formatTestResult(name, sent));
  return sent.is === 'delivered' ? exit.ok : exit.notAllWell;
}
