/** Sends notifications again, as `notify resend` does. */
import { isPermitted } from '../../access/principal.ts';
import { carryOut } from '../../control/carry-out.ts';
import { listDeliveries, resendDelivery } from '../../control/commands/notifications.ts';
import { testReceiver } from '../../control/commands/test-receiver.ts';
import { formatTestResult } from '../../notify/send-test.ts';
import { countOf } from '../../text.ts';
import { actorOf, ask, principalOf } from '../auth/caller.ts';
import { NO_DELIVERY, NO_RECEIVER } from '../auth/guard.tsx';
import { notificationPath } from '../components/paths.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redirectBack } from '../http/toast.ts';
import { sendProblem } from '../pages/problem.tsx';
import { type DeliveryQuery, deliveryParameters, readDeliveryQuery } from '../queries/list-query.ts';
import { showConfirmation } from './confirm.tsx';

const idIn = (c: Exchange): string => c.req.param('delivery') ?? '';

export async function askToResend(c: Exchange, context: DashboardContext): Promise<Response> {
  const delivery = await context.control.records.deliveries.get(idIn(c));
  if (!delivery) return sendProblem(c, context, 404, NO_DELIVERY);
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
}

export async function resend(c: Exchange, context: DashboardContext): Promise<Response> {
  const delivery = idIn(c);
  await carryOut(resendDelivery, context.control, { delivery }, actorOf(c));
  context.log.info({ delivery }, 'sent again from the dashboard');
  return redirectBack(c, context, notificationPath(delivery), {
    text: 'The notification is sent again by the next worker.',
  });
}

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

export async function askToResendMany(c: Exchange, context: DashboardContext): Promise<Response> {
  const query = readDeliveryQuery((name) => c.req.query(name), context.clock.now());
  if (query.faults.length > 0) return sendProblem(c, context, 400, query.faults.join(' '));
  const found = await deadOnes(c, context, query);
  if (found.length === 0) return sendProblem(c, context, 404, 'No notification matches that was given up.');
  const counted = countOf(found.length, 'notification');
  const receivers = [...new Set(found.map(({ to }) => to))];
  return showConfirmation(c, context, {
    title: `Resend ${counted}?`,
    text: `They go to ${receivers.join(', ')}, the oldest first, each with the same id. The attempts begin again and last for a day.`,
    button: `Resend ${counted}`,
    back: BACK,
    fields: deliveryParameters.map(
      (name) => query.given[name] && <input type="hidden" name={name} value={query.given[name]} />,
    ),
  });
}

/** Each by the command for one, so each has its line in the audit log. */
export async function resendMany(c: Exchange, context: DashboardContext): Promise<Response> {
  const form = await c.req.parseBody();
  const query = readDeliveryQuery(
    (name) => (typeof form[name] === 'string' ? form[name] : undefined),
    context.clock.now(),
  );
  if (query.faults.length > 0) return sendProblem(c, context, 400, query.faults.join(' '));
  const found = await deadOnes(c, context, query);
  for (const { id } of found) await carryOut(resendDelivery, context.control, { delivery: id }, actorOf(c));
  context.log.info({ deliveries: found.length }, 'sent again from the dashboard');
  return redirectBack(c, context, BACK, {
    text: `${countOf(found.length, 'notification')} sent again by the next worker.`,
  });
}

/** Sends a test message to a receiver of notifications, as `notify test` does. */
const BACK = '/notifications';

export function askToTest(c: Exchange, context: DashboardContext): Response | Promise<Response> {
  const receiver = context.receivers().find(({ name }) => name === c.req.param('receiver'));
  if (!receiver) return sendProblem(c, context, 404, NO_RECEIVER);
  const { name, kind } = receiver;
  return showConfirmation(c, context, {
    title: `Send a test message to ${name}?`,
    text:
      kind === 'pagerduty'
        ? 'PagerDuty opens an incident for it, which a person has to resolve there. It is sent once, and not tried again.'
        : 'The message says that nothing has happened. It is sent once, and not tried again.',
    button: 'Send a test',
    back: BACK,
  });
}

export async function test(c: Exchange, context: DashboardContext): Promise<Response> {
  const name = c.req.param('receiver') ?? '';
  const { receiver, sent } = await carryOut(testReceiver, context.control, { receiver: name }, actorOf(c));
  context.log.info({ receiver, is: sent.is }, 'a test message was sent from the dashboard');
  const text = formatTestResult(receiver, sent);
  return redirectBack(c, context, BACK, sent.is === 'delivered' ? { text } : { text, isFailure: true });
}
