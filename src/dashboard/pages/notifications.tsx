/** Who was notified of what, and did it arrive? */
import { z } from 'zod';
import { isPermitted } from '../../access/principal.ts';
import { carryOut } from '../../control/carry-out.ts';
import { listDeliveries, resendDelivery } from '../../control/commands/notifications.ts';
import { testReceiver } from '../../control/commands/test-receiver.ts';
import { subjectOf } from '../../notify/wording.ts';
import { deliveryStates } from '../../records/delivery-states.ts';
import type { Delivery } from '../../records/delivery-store.ts';
import { actorOf } from '../auth/caller.ts';
import { Action } from '../components/action.tsx';
import { Badge } from '../components/badge.tsx';
import { Empty } from '../components/empty.tsx';
import { FilterBar } from '../components/filter-bar.tsx';
import { showPage } from '../components/layout.tsx';
import { notificationPath, policyPath, receiverPath, runPath } from '../components/paths.ts';
import { Cut, DataTable } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { type ReceiverHealth, receiverHealth } from '../queries/receiver-health.ts';

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
  const { deliveries, next } = await carryOut(
    listDeliveries,
    context.control,
    { ...onlyGiven(query), limit: PAGE },
    actor,
  );
  const receivers = context.receivers();
  const health = await receiverHealth(context, actor);
  const now = context.clock.now();
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
          <Receivers
            health={health}
            now={now}
            mayTest={isPermitted(actor.principal, testReceiver.role, {})}
          />
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
          <DataTable
            name="Notifications"
            columns={[
              { head: 'Time', width: 'w-word' },
              { head: 'Receiver', width: 'w-name' },
              { head: 'State', width: 'w-badge' },
              { head: 'Message' },
              { head: 'Subject', width: 'w-in', middleOnly: true },
              { head: 'Attempts', width: 'w-count', wideOnly: true },
              { head: 'Action', width: 'w-do' },
            ]}
          >
            {deliveries.map((delivery) => (
              <Row delivery={delivery} now={now} mayResend={mayResend(delivery)} />
            ))}
          </DataTable>
        )}
        {(query.after !== '' || next !== undefined) && (
          <nav class="pager" aria-label="Pages of the notifications">
            {query.after !== '' && <a href={pathOf({ ...query, after: '' })}>Newest</a>}
            {next !== undefined && <a href={pathOf({ ...query, after: next })}>Older</a>}
          </nav>
        )}
      </section>
    </>,
  );
}

interface ReceiversProps {
  health: readonly ReceiverHealth[];
  now: number;
  mayTest: boolean;
}

const Receivers = ({ health, now, mayTest }: ReceiversProps) => (
  <DataTable
    name="Receivers"
    columns={[
      { head: 'Receiver' },
      { head: 'State', width: 'w-badge' },
      { head: 'Kind', width: 'w-word' },
      { head: 'Last delivered', width: 'w-badge' },
      { head: 'Pending', width: 'w-short', end: true, middleOnly: true },
      { head: 'Dead', width: 'w-short', end: true, middleOnly: true },
      { head: 'Rules', width: 'w-target', wideOnly: true },
      { head: 'Action', width: 'w-badge' },
    ]}
  >
    {health.map(({ name, kind, state, deliveredAt, pending, dead, rules }) => (
      <tr data-key={`receiver ${name}`}>
        <td data-label="Receiver">
          <Cut whole={name}>
            <a href={pathOf({ to: name, state: '', policy: '', after: '' })}>{name}</a>
          </Cut>
        </td>
        <td data-label="State">
          {state === 'unknown' ? <span class="dim">not known</span> : <Badge word={state} />}
        </td>
        <td data-label="Kind">{kind ?? 'not known'}</td>
        <td data-label="Delivered">
          {deliveredAt === undefined ? (
            <span class="dim">not known</span>
          ) : (
            <Time at={deliveredAt} now={now} show="relative" />
          )}
        </td>
        <td data-label="Pending" class="end middle-only">
          {kind === 'heartbeat' ? <span class="dim">none</span> : pending}
        </td>
        <td data-label="Dead" class="end middle-only">
          {dead > 0 ? (
            <a href={pathOf({ to: name, state: 'dead', policy: '', after: '' })}>{dead}</a>
          ) : kind === 'heartbeat' ? (
            <span class="dim">none</span>
          ) : (
            0
          )}
        </td>
        <td data-label="Rules" class="wide-only">
          <Cut whole={rules} />
        </td>
        <td data-label="Action">
          {mayTest && kind !== undefined && kind !== 'heartbeat' && (
            <Action to={receiverPath(name, '/test')} of={`to ${name}`}>
              Send a test
            </Action>
          )}
        </td>
      </tr>
    ))}
  </DataTable>
);

const Row = ({ delivery, now, mayResend }: { delivery: Delivery; now: number; mayResend: boolean }) => {
  const { id, to, at, state, message } = delivery;
  const [line = ''] = message.text.split('\n');
  return (
    <tr data-key={id}>
      <td data-label="Time">
        <Time at={at} now={now} show="relative" />
      </td>
      <td data-label="Receiver">
        <Cut whole={to} />
      </td>
      <td data-label="State">
        <Badge word={state} />
      </td>
      <td data-label="Message">
        <Cut whole={message.text}>
          <a href={notificationPath(id)}>{line}</a>
        </Cut>
      </td>
      <td data-label="Subject" class="middle-only">
        <DeliverySubject delivery={delivery} />
      </td>
      <td data-label="Attempts" class="wide-only">
        <Attempts delivery={delivery} now={now} />
      </td>
      <td data-label="Action">
        {mayResend && state === 'dead' && (
          <Action to={notificationPath(id, '/resend')} of={id}>
            Resend
          </Action>
        )}
      </td>
    </tr>
  );
};

/** Its run, or its policy, or else what it is about. */
export function DeliverySubject({ delivery }: { delivery: Delivery }) {
  const { run, policy, account } = delivery;
  const whole = run ?? policy ?? account ?? subjectOf(delivery);
  const path = run !== undefined ? runPath(run) : policy === undefined ? undefined : policyPath(policy);
  return <Cut whole={whole}>{path === undefined ? whole : <a href={path}>{whole}</a>}</Cut>;
}

/** How many, and when the next one is. */
function Attempts({ delivery, now }: { delivery: Delivery; now: number }) {
  const { attempts, due, state } = delivery;
  return (
    <>
      {attempts.length}
      {state === 'pending' && due !== undefined && attempts.length > 0 && (
        <>
          , next <Time at={due} now={now} show="relative" />
        </>
      )}
    </>
  );
}

const onlyGiven = (query: Query): Partial<Omit<Query, 'state'>> & { state?: Delivery['state'] } =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));

const pathOf = (query: Query): string => {
  const search = new URLSearchParams(onlyGiven(query)).toString();
  return search === '' ? PATH : `${PATH}?${search}`;
};
