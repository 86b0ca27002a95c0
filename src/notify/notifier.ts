/** Tells those whom a policy names under `notify` what became of its runs. */
import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Policy } from '../policy/policy.ts';
import type { Run } from '../run/run.ts';
import type { Notification, Settings } from '../settings/settings.ts';
import { messageAbout } from './message.ts';
import { signatureOf } from './signature.ts';
import { type Delivery, deliver, openConnections } from './webhook.ts';

export interface NotifierParts {
  settings: Pick<Settings, 'notifications'>;
  clock: Clock;
  log: Log;
  /** Connections to receivers. Default: our own, with time limits. */
  dispatcher?: Dispatcher;
}

export interface Notifier {
  /**
   * Tells everybody whom the policy names for the run's status, all at once; resolves when each was told or given up.
   *
   * Never rejects: a receiver that could not be told is logged as an error. Takes milliseconds as a rule, and at most
   * a little over a minute while receivers fail, so whoever holds something precious should not wait for it.
   */
  runEnded(run: Run, policy: Policy): Promise<void>;
}

/** The pauses between the tries of a delivery, in milliseconds; one try more than pauses. */
const PAUSES_MS = [1_000, 5_000];

/** Opens the notifier. Nothing is sent before a run ends. */
export function createNotifier({
  settings,
  clock,
  log,
  dispatcher = openConnections(),
}: NotifierParts): Notifier {
  const tell = async (to: string, run: Run): Promise<void> => {
    const receiver = settings.notifications[to];
    const delivery: Delivery = receiver
      ? await deliverPatiently(run, receiver, clock, dispatcher)
      : { is: 'refused', why: 'there is no such name under notifications in the config' };
    const facts = { run: run.id, policy: run.policy, status: run.status, to };
    if (delivery.is === 'taken') log.debug(facts, 'a notification was delivered');
    else log.error(facts, `"${to}" was not told about the run ${run.id}: ${delivery.why}`);
  };

  return {
    async runEnded(run, { notify }) {
      const receivers = notify.filter(({ on }) => on.includes(run.status)).map(({ to }) => to);
      await Promise.all([...new Set(receivers)].map((to) => tell(to, run)));
    },
  };
}

async function deliverPatiently(
  run: Run,
  { webhook }: Notification,
  clock: Clock,
  dispatcher: Dispatcher,
): Promise<Delivery> {
  const body = JSON.stringify(messageAbout(run));
  const attempt = () =>
    deliver({ url: webhook.url, headers: headersFor(run, body, webhook.secret, clock), body }, dispatcher);
  let delivery = await attempt();
  for (const pauseMs of PAUSES_MS) {
    if (delivery.is !== 'failed') return delivery;
    await clock.sleep(pauseMs);
    delivery = await attempt();
  }
  return delivery;
}

/** Signed anew for each try, so that a receiver may turn old timestamps away. */
function headersFor(
  run: Run,
  body: string,
  secret: string | undefined,
  clock: Clock,
): Record<string, string> {
  const timestamp = String(Math.floor(clock.now() / 1000));
  return {
    'content-type': 'application/json',
    'user-agent': 'caretaker',
    'x-caretaker-event': `run.${run.status}`,
    'x-caretaker-timestamp': timestamp,
    ...(secret === undefined ? {} : { 'x-caretaker-signature': signatureOf(secret, timestamp, body) }),
  };
}
