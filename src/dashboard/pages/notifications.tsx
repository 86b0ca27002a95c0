/** Who was notified of what, and did it arrive? */
import { z } from 'zod';
import { isPermitted } from '../../access/principal.ts';
import { listDeliveries, resendDelivery } from '../../control/commands/notifications.ts';
import { testReceiver } from '../../control/commands/test-receiver.ts';
import { subjectOf } from '../../notify/wording.ts';
import type { Delivery } from '../../records/delivery-store.ts';
import { deliveryStates } from '../../records/filter-values.ts';
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
import { type ReceiverHealth, receiverHealth } from '../queries/receiver-health.ts';
import { SubjectLink } from './audit.tsx';

const PATH = '/notifications';
const PAGE = 50;

const text = z.string().trim().max(200).catch('');
const Query = z.object({
  to: text,
  state: z.enum(deliveryStates).or(z.literal('')).catch(''),
  policy: text,
  after: z
    .string()
    .regex(/^\d+ [\w-]+$/)
    .or(z.literal(''))
    .catch(''),
});
type Query = z.output<typeof Query>;

/** The receivers with their health, then the notifications, newest first, with filters. */
export async function showNotifications(c: Exchange, context: DashboardContext): Promise<Response> {
  const query = Query.parse(c.req.query());
  const actor = actorOf(c);
  const { deliveries, next } = await ask(c, context, listDeliveries, { ...onlyGiven(query), limit: PAGE });
  const receivers = context.receivers();
  const health = await receiverHealth(context, actor);
  const mayResend = ({ policy, account }: Delivery) =>
    isPermitted(actor.principal, resendDelivery.role, { policy, account });
  return showPage(
    c,
    context,
    { title: 'Notifications', here: PATH },
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
          <Receivers health={health} mayTest={isPermitted(actor.principal, testReceiver.role, {})} />
        )}
      </section>
      <section>
        <h2>Messages</h2>
        <FilterBar
          path={PATH}
          filters={[
            {
              name: 'to',
              label: 'Receiver',
              value: query.to,
              suggestions: receivers.map(({ name }) => name),
            },
            { name: 'state', label: 'State', value: query.state, options: deliveryStates },
            {
              name: 'policy',
              label: 'Policy',
              value: query.policy,
              suggestions: context.policies().map(({ name }) => name),
            },
          ]}
        />
        {deliveries.length === 0 ? (
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
        <Pages
          {...{ of: 'the notifications', path: PATH, given: query, at: query.after || undefined, next }}
          isByTime
        />
      </section>
    </>,
  );
}

const Receivers = ({ health, mayTest }: { health: readonly ReceiverHealth[]; mayTest: boolean }) => (
  <Table
    name="Receivers"
    columns={(column) => [
      column('Receiver', '', ({ name }) => <Cut whole={name} to={pathWith(PATH, { to: name })} />),
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
        if (dead > 0) return <a href={pathWith(PATH, { to: name, state: 'dead' })}>{dead}</a>;
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

const onlyGiven = (query: Query): Partial<Omit<Query, 'state'>> & { state?: Delivery['state'] } =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));
