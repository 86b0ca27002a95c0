/** Notifications: lists them, sends them again, and tests receivers. */
import { isoMinute, systemClock } from '../../clock.ts';
import { carryOut } from '../../control/carry-out.ts';
import { listDeliveries, resendDelivery, toDeliveryReport } from '../../control/commands/notifications.ts';
import { NotFoundError } from '../../control/errors.ts';
import type { DeliveryState } from '../../records/delivery-states.ts';
import type { Delivery } from '../../records/delivery-store.ts';
import { suggestionFor } from '../../suggest.ts';
import { carryOutHere } from '../carry-out-here.ts';
import { type GlobalOptions, hasRecords, type ReasonOption, settingsOf, withRecords } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { localActor } from '../local-actor.ts';
import { show } from '../output/show.ts';
import { type Terminal, table } from '../output/terminal.ts';

/** Lists notifications, newest first. */
export async function listNotifications(
  terminal: Terminal,
  options: GlobalOptions & { state?: DeliveryState; to?: string; limit: number },
): Promise<number> {
  const settings = settingsOf(terminal, options);
  const { state, to, limit } = options;
  // A command that only reads does not start the embedded Redis.
  const found = hasRecords(settings)
    ? await withRecords(
        terminal,
        options,
        settings,
        async (opened) =>
          (await carryOut(listDeliveries, opened, { state, to, limit }, localActor())).deliveries,
      )
    : [];
  const text = () => {
    if (found.length === 0) terminal.message('There is no such notification.');
    else terminal.data(deliveryTable(found, terminal));
  };
  const columns = ['id', 'at', 'to', 'event', 'policy', 'run', 'state', 'next_attempt_at', 'text'];
  await show(terminal, options, { value: found.map(toDeliveryReport), columns, text });
  return exit.ok;
}

const styles = { delivered: 'green', pending: 'yellow', dead: 'red' } as const;

/** The last error of one that has not arrived, and when the next attempt is. */
function remarkOn({ state, attempts, due }: Delivery): string {
  if (state === 'delivered') return '';
  const why = attempts.findLast((one) => one.why !== undefined)?.why ?? '';
  return due === undefined ? why : `${why}${why === '' ? '' : '; '}next attempt ${isoMinute(due)}`;
}

function deliveryTable(found: readonly Delivery[], { paint, dataColumns }: Terminal): string {
  const rows = found.map((one) => [
    isoMinute(one.at),
    one.to,
    one.event,
    one.run ?? one.policy ?? '',
    paint(styles[one.state], one.state),
    String(one.attempts.length),
    one.id,
    remarkOn(one),
  ]);
  return table(['time', 'to', 'event', 'subject', 'state', 'attempts', 'id', 'detail'], rows, paint, {
    columns: dataColumns,
    shrink: [
      { column: 7, min: 16 },
      { column: 3, min: 12 },
      { column: 7, min: 0 },
    ],
  });
}

/** Has notifications sent again, by a daemon. */
export async function resendNotifications(
  terminal: Terminal,
  ids: string[],
  options: GlobalOptions & ReasonOption,
): Promise<number> {
  return withRecords(terminal, options, settingsOf(terminal, options), async (opened) => {
    for (const delivery of ids) {
      const input = { delivery, reason: options.reason };
      await carryOutHere(resendDelivery, opened, input, terminal).catch((error: unknown) => {
        throw error instanceof NotFoundError ? new UsageError(error.message) : error;
      });
      terminal.message(`${delivery} is sent again, by the next process that works on runs.`);
    }
    return exit.ok;
  });
}

/** Sends a test message to a receiver, once. Nothing is recorded. */
export async function testReceiver(
  terminal: Terminal,
  name: string,
  options: GlobalOptions,
): Promise<number> {
  const { notifications } = settingsOf(terminal, options);
  const receiver = notifications[name];
  if (!receiver) {
    const hint = suggestionFor(name, Object.keys(notifications));
    throw new UsageError(
      `There is no "${name}" under notifications in the configuration${hint ? `: ${hint}` : '.'}`,
    );
  }
  const { sendTest, formatTestResult } = await import('../../notify/send-test.ts');
  const sent = await sendTest(receiver, systemClock);
  terminal.message(formatTestResult(name, sent));
  return sent.is === 'delivered' ? exit.ok : exit.notAllWell;
}
