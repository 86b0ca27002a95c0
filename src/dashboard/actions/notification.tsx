/** Sends notifications again, as `notify resend` does, and test messages, as `notify test` does. */
import { isPermitted } from '../../access/principal.ts';
import { listDeliveries, resendDelivery } from '../../control/commands/notifications.ts';
import { testReceiver } from '../../control/commands/test-receiver.ts';
import { NotFoundError } from '../../control/errors.ts';
import { formatTestResult } from '../../notify/send-test.ts';
import { countOf } from '../../text.ts';
import { ask, change, principalOf } from '../auth/caller.ts';
import { NO_DELIVERY, NO_RECEIVER, onDelivery, onReceiver } from '../auth/guard.tsx';
import { notificationPath } from '../components/paths.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redirectBack } from '../http/toast.ts';
import { type DeliveryQuery, readDeliveryQuery, requireValid } from '../queries/list-query.ts';
import { type Change, formOf, Hidden, showConfirmation } from './confirm.tsx';

const BACK = '/notifications';
export const BULK_RESEND_PATH = '/bulk/resend';
/** At most this many at once. */
const MAX_RESENT = 1_000;

/** The notifications that match, that were given up, and that the caller may send again, the oldest first. */
async function deadOnes(c: Exchange, context: DashboardContext, { filter }: DeliveryQuery) {
  const query = { ...filter, state: 'dead' as const, limit: MAX_RESENT };
  const { deliveries } = await ask(c, context, listDeliveries, query);
  const may = (one: (typeof deliveries)[number]) =>
    isPermitted(principalOf(c), resendDelivery.role, { policy: one.policy, account: one.account });
  return deliveries.filter(may).toReversed();
}

export const notificationChanges: readonly Change[] = [
  {
    path: '/notifications/:delivery/resend',
    ...onDelivery(resendDelivery),
    ask: async (c, context) => {
      const delivery = await context.control.records.deliveries.get(c.req.param('delivery') ?? '');
      if (!delivery) throw new NotFoundError(NO_DELIVERY);
      const { to, state, id } = delivery;
      return showConfirmation(c, context, {
        title: `Send it to ${to} again?`,
        text:
          state === 'delivered'
            ? 'The receiver has accepted it. It gets the same message once more, with the same id, so that it can recognize the repetition.'
            : 'The receiver gets the same message with the same id. The attempts begin again and last for a day.',
        button: 'Resend the notification',
        back: notificationPath(id),
      });
    },
    act: async (c, context) => {
      const delivery = c.req.param('delivery') ?? '';
      await change(c, context, resendDelivery, { delivery });
      const text = 'The notification is sent again by the next worker.';
      return redirectBack(c, context, notificationPath(delivery), { text });
    },
  },
  {
    path: BULK_RESEND_PATH,
    access: resendDelivery.role,
    ask: async (c, context) => {
      const query = requireValid(readDeliveryQuery((name) => c.req.query(name), context.clock.now()));
      const found = await deadOnes(c, context, query);
      if (found.length === 0) throw new NotFoundError('No notification matches that was given up.');
      const counted = countOf(found.length, 'notification');
      const receivers = [...new Set(found.map(({ to }) => to))];
      return showConfirmation(c, context, {
        title: `Resend ${counted}?`,
        text: `They go to ${receivers.join(', ')}, the oldest first, each with the same id. The attempts begin again and last for a day.`,
        button: `Resend ${counted}`,
        back: BACK,
        fields: <Hidden fields={query.given} />,
      });
    },
    // Each by the command for one, so each has its line in the audit log.
    act: async (c, context) => {
      const { text } = await formOf(c);
      const found = await deadOnes(c, context, requireValid(readDeliveryQuery(text, context.clock.now())));
      for (const { id } of found) await change(c, context, resendDelivery, { delivery: id });
      return redirectBack(c, context, BACK, {
        text: `${countOf(found.length, 'notification')} sent again by the next worker.`,
      });
    },
  },
  {
    path: '/receivers/:receiver/test',
    ...onReceiver(testReceiver),
    ask: (c, context) => {
      const receiver = context.receivers().find(({ name }) => name === c.req.param('receiver'));
      if (!receiver) throw new NotFoundError(NO_RECEIVER);
      const what =
        receiver.kind === 'pagerduty'
          ? 'PagerDuty opens an incident for it, which a person has to resolve there.'
          : 'The message says that nothing has happened.';
      return showConfirmation(c, context, {
        title: `Send a test message to ${receiver.name}?`,
        text: `${what} It is sent once, and not tried again.`,
        button: 'Send a test',
        back: BACK,
      });
    },
    act: async (c, context) => {
      const name = c.req.param('receiver') ?? '';
      const { receiver, sent } = await change(c, context, testReceiver, { receiver: name });
      const text = formatTestResult(receiver, sent);
      return redirectBack(c, context, BACK, sent.is === 'delivered' ? { text } : { text, isFailure: true });
    },
  },
];
