/** Sends a test message to a receiver of notifications, as `notify test` does. */
import { carryOut } from '../../control/carry-out.ts';
import { testReceiver } from '../../control/commands/test-receiver.ts';
import { formatTestResult } from '../../notify/send-test.ts';
import { actorOf } from '../auth/caller.ts';
import { NO_RECEIVER } from '../auth/guard.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redirectBack } from '../http/toast.ts';
import { sendProblem } from '../pages/problem.tsx';
import { showConfirmation } from './confirm.tsx';

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
