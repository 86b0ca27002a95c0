/** Who was notified of what, and did it arrive? */
import { isPermitted } from '../../access/principal.ts';
import { listDeliveries, resendDelivery } from '../../control/commands/notifications.ts';
import { testReceiver } from '../../control/commands/test-receiver.ts';
import { subjectOf } from '../../notify/wording.ts';
import type { Delivery } from '../../records/delivery-store.ts';
import { deliveryStates } from '../../records/filter-values.ts';
import { BULK_RESEND_PATH } from '../actions/notification.tsx';
import { actorOf, ask } from '../auth/caller.ts';
import { Action } from '../components/action.tsx';
import { Badge } from '../components/badge.tsx';
import { Empty, NotKnown } from '../components/empty.tsx';
import { FilterBar, Pages, pathWith } from '../components/filter-bar.tsx';
import { showPage } from '../components/layout.tsx';
import { notificationPath, receiverPath } from '../components/paths.ts';
import { Cut, Table } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { readDeliveryQuery } from '../queries/list-query.ts';
import { type ReceiverHealth, receiverHealth } from '../queries/receiver-health.ts';
import { SubjectLink } from './audit.tsx';

const PATH = '/notifications';
const PAGE = 50;

/** The receivers with their health, then the notifications, newest first, with filters. */
export async function showNotifications(c: Exchange, context: DashboardContext): Promise<Response> {
  const { given, filter, faults } = readDeliveryQuery((name) => c.req.query(name), context.clock.now());
  const after = c.req.query('after')?.match(/^\d+ [\w-]+$/)?.[0];
  const actor = actorOf(c);
  const { deliveries, next }: Awaited<ReturnType<typeof listDeliveries.carryOut>> =
    faults.length > 0
      ? { deliveries: [] }
      : await ask(c, context, listDeliveries, { ...filter, after, limit: PAGE });
  const receivers = context.receivers();
  const health = await receiverHealth(context, actor);
  const mayResend = ({ policy, account }: Delivery) =>
    isPermitted(actor.principal, resendDelivery.role, { policy, account });
  return showPage(
    c,
    context,
    { title: 'Notifications', here: PATH, live: '*' },
    <>
      <section>
        <div class="page-head">
          <h1>Notifications</h1>
        </div>
        {health.length === 0 ? (
          <Empty title="The configuration has no receiver." icon="bell">
            Receivers are under notifications in config/caretaker.yaml, and policies name them under notify.
          </Empty>
        ) : (
          <div id="receivers" data-live>
            <Receivers health={health} mayTest={isPermitted(actor.principal, testReceiver.role, {})} />
          </div>
        )}
      </section>
      <section>
        <div class="page-head">
          <h2>Messages</h2>
          {deliveries.some((one) => one.state === 'dead' && mayResend(one)) && (
            <Action to={pathWith(BULK_RESEND_PATH, given)}>Resend all dead ones</Action>
          )}
        </div>
        <FilterBar
          path={PATH}
          filters={[
            {
              name: 'receiver',
              label: 'Receiver',
              value: given.receiver,
              suggestions: receivers.map(({ name }) => name),
            },
            { name: 'state', label: 'State', value: given.state, options: deliveryStates },
            {
              name: 'policy',
              label: 'Policy',
              value: given.policy,
              suggestions: context.policies().map(({ name }) => name),
            },
            { name: 'from', label: 'From', value: given.from, placeholder: '7d or a date' },
            { name: 'to', label: 'To', value: given.to, placeholder: 'now' },
          ]}
        />
        <div id="messages" data-live>
          {faults.length > 0 ? (
            <Empty icon="triangle-alert" title={faults.join(' ')} />
          ) : deliveries.length === 0 ? (
            <Empty title="No notification matches." icon="bell">
              Each message to a receiver is here for 30 days, with its attempts. <a href={PATH}>Show all</a>
            </Empty>
          ) : (
            <Table
              name="Notifications"
              columns={(column) => [
                column('Time', 'w-word', ({ at }) => <Time at={at} show="relative" />),
                column('Receiver', 'w-name', ({ to }) => <Cut whole={to} />),
                column('State', 'w-badge', ({ state }) => <Badge word={state} />),
                column('Message', '', ({ id, message: { text } }) => (
                  <Cut whole={text} to={notificationPath(id)}>
                    {text.split('\n')[0]}
                  </Cut>
                )),
                column('Subject', 'w-in middle-only', DeliverySubject),
                column('Attempts', 'w-count wide-only', Attempts),
                column(
                  'Action',
                  'w-do',
                  (delivery) =>
                    mayResend(delivery) &&
                    delivery.state === 'dead' && (
                      <Action to={notificationPath(delivery.id, '/resend')} of={delivery.id}>
                        Resend
                      </Action>
                    ),
                ),
              ]}
              rows={deliveries}
              keyOf={({ id }) => id}
            />
          )}
          <Pages {...{ of: 'the notifications', path: PATH, given, at: after, next }} isByTime />
        </div>
      </section>
    </>,
  );
}

const Receivers = ({ health, mayTest }: { health: readonly ReceiverHealth[]; mayTest: boolean }) => (
  <Table
    name="Receivers"
    columns={(column) => [
      column('Receiver', '', ({ name }) => <Cut whole={name} to={pathWith(PATH, { receiver: name })} />),
      column('State', 'w-badge', ({ state }) =>
        state === 'unknown' ? <NotKnown /> : <Badge word={state} />,
      ),
      column('Kind', 'w-word', ({ kind = 'not known' }) => kind),
      column({ head: 'Last delivered', label: 'Delivered' }, 'w-badge', ({ deliveredAt: at }) =>
        at === undefined ? <NotKnown /> : <Time at={at} show="relative" />,
      ),
      column('Pending', 'w-short end middle-only', ({ kind, pending }) =>
        kind === 'heartbeat' ? <span class="dim">none</span> : pending,
      ),
      column('Dead', 'w-short end middle-only', ({ name, kind, dead }) => {
        if (dead > 0) return <a href={pathWith(PATH, { receiver: name, state: 'dead' })}>{dead}</a>;
        return kind === 'heartbeat' ? <span class="dim">none</span> : 0;
      }),
      column('Rules', 'w-target wide-only', ({ rules }) => <Cut whole={rules} />),
      column(
        'Action',
        'w-badge',
        ({ name, kind }) =>
          mayTest &&
          kind !== undefined &&
          kind !== 'heartbeat' && (
            <Action to={receiverPath(name, '/test')} of={`to ${name}`}>
              Send a test
            </Action>
          ),
      ),
    ]}
    rows={health}
    keyOf={({ name }) => `receiver ${name}`}
  />
);

/** Its run, or its policy, or else what it is about. */
export const DeliverySubject = (delivery: Delivery) => (
  <SubjectLink {...{ account: subjectOf(delivery), ...delivery }} />
);

/** How many, and when the next one is. */
function Attempts({ attempts, due, state }: Delivery) {
  return (
    <>
      {attempts.length}
      {state === 'pending' && due !== undefined && attempts.length > 0 && (
        <>
          , next <Time at={due} show="relative" />
        </>
      )}
    </>
  );
}
