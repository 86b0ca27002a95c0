/** One notification: its text, and each attempt. */
import { isPermitted } from '../../access/principal.ts';
import { resendDelivery } from '../../control/commands/notifications.ts';
import { actorOf } from '../auth/caller.ts';
import { NO_DELIVERY } from '../auth/guard.tsx';
import { Action } from '../components/action.tsx';
import { Badge } from '../components/badge.tsx';
import { Empty, NotKnown } from '../components/empty.tsx';
import { showPage } from '../components/layout.tsx';
import { notificationPath } from '../components/paths.ts';
import { Fact } from '../components/progress.tsx';
import { Table } from '../components/table.tsx';
import { span, Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { DeliverySubject } from './notifications.tsx';
import { sendProblem } from './problem.tsx';

export async function showNotification(c: Exchange, context: DashboardContext): Promise<Response> {
  const { records } = context.control;
  const delivery = await records.deliveries.get(c.req.param('delivery') ?? '');
  if (!delivery) return sendProblem(c, context, 404, NO_DELIVERY);
  const { id, to, event, at, policy, account, state, due, attempts, message } = delivery;
  const mayResend = isPermitted(actorOf(c).principal, resendDelivery.role, { policy, account });
  return showPage(
    c,
    context,
    { title: `Notification to ${to}`, here: '/notifications', live: '*' },
    <>
      <section id="notification" data-live>
        <div class="page-head">
          <h1>Notification to {to}</h1>
          <Badge word={state} filled />
          {mayResend && (
            <Action to={notificationPath(id, '/resend')} icon="rotate-ccw">
              Resend
            </Action>
          )}
        </div>
        <div class="card">
          {message.text.split('\n').map((line, index) => (
            <>
              {index > 0 && <br />}
              {line}
            </>
          ))}
        </div>
      </section>
      <section id="facts" data-live>
        <h2>Facts</h2>
        <dl class="card">
          <Fact name="About">
            <DeliverySubject {...delivery} />
          </Fact>
          <Fact name="Event">{event}</Fact>
          <Fact name="Happened">
            <Time at={at} />
          </Fact>
          <Fact name="Next attempt">{due === undefined ? 'none' : <Time at={due} />}</Fact>
          <Fact name="Id">
            <code>{id}</code>
          </Fact>
        </dl>
      </section>
      <section id="attempts" data-live>
        <h2>Attempts</h2>
        {attempts.length === 0 ? (
          <Empty title="There was no attempt yet." icon="clock">
            A worker makes one as soon as it is due.
          </Empty>
        ) : (
          <Table
            name="Attempts"
            columns={(column) => [
              column('Time', 'w-run', (one) => <Time at={one.at} show="both" />),
              column('Result', 'w-badge', ({ is = 'unknown' }) => <Badge word={is} />),
              column('Duration', 'w-word end', ({ ms }) => {
                if (ms === undefined) return <NotKnown />;
                return ms < 1000 ? `${ms} ms` : span(ms);
              }),
              column('Why', '', ({ is, why }) =>
                is === undefined && why === undefined
                  ? 'Its end was not recorded: it continues, or its process died.'
                  : why,
              ),
            ]}
            rows={attempts.toReversed()}
            keyOf={(one) => `attempt ${one.at}`}
          />
        )}
      </section>
    </>,
  );
}
