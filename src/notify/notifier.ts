/** Tells those whom a policy names under `notify` what became of its runs, and that it was paused. */
import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Policy } from '../policy/policy.ts';
import type { Pause } from '../records/policy-store.ts';
import type { Run } from '../run/run.ts';
import type { Notification, Settings } from '../settings/settings.ts';
import type { Notice } from './channel.ts';
import { send } from './channels.ts';
import { messageAbout, messageAboutPause } from './message.ts';
import { type Delivery, openConnections } from './post.ts';

export interface NotifierParts {
  settings: Pick<Settings, 'notifications'>;
  clock: Clock;
  log: Log;
  /** Connections to receivers. Default: our own, with time limits. */
  dispatcher?: Dispatcher;
}

export interface Notifier {
  /**
   * Tells everybody whom the policy names for the run's status, all at once; resolves when each was told or
   * given up.
   *
   * Never rejects: a receiver that could not be told is logged as an error. Takes milliseconds as a rule, and
   * at most a little over a minute while receivers fail, so whoever holds something precious should not wait
   * for it.
   */
  runEnded(run: Run, policy: Policy): Promise<void>;
  /**
   * Likewise for `paused`: the policy was paused by itself after this run (`schedule.pause_after_failures`).
   */
  policyPaused(run: Run, policy: Policy, pause: Pause): Promise<void>;
}

/** What is sent, to whom it belongs, and what the log calls it. */
interface News extends Notice {
  run: Run;
  what: string;
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
  const tell = async (to: string, news: News): Promise<void> => {
    const receiver = settings.notifications[to];
    const delivery: Delivery = receiver
      ? await deliverPatiently(news, receiver, clock, dispatcher)
      : { is: 'refused', why: 'there is no such name under notifications in the config' };
    const { event, run } = news;
    const facts = { event, run: run.id, policy: run.policy, status: run.status, to };
    if (delivery.is === 'taken') log.debug(facts, 'a notification was delivered');
    else log.error(facts, `"${to}" was not notified ${news.what}: ${delivery.why}`);
  };

  const tellAll = async ({ notify }: Policy, word: string, news: News): Promise<void> => {
    const receivers = notify.filter(({ on }) => on.includes(word)).map(({ to }) => to);
    await Promise.all([...new Set(receivers)].map((to) => tell(to, news)));
  };

  return {
    runEnded(run, policy) {
      const [event, what] = [`run.${run.status}` as const, `about the run ${run.id}`];
      return tellAll(policy, run.status, { event, message: messageAbout(run), run, what });
    },
    policyPaused(run, policy, pause) {
      const message = messageAboutPause(run, pause);
      const what = `that the policy ${policy.name} was paused`;
      return tellAll(policy, 'paused', { event: 'policy.paused', message, run, what });
    },
  };
}

async function deliverPatiently(
  notice: Notice,
  receiver: Notification,
  clock: Clock,
  dispatcher: Dispatcher,
): Promise<Delivery> {
  const attempt = () => send(notice, receiver, { clock, dispatcher });
  let delivery = await attempt();
  for (const pauseMs of PAUSES_MS) {
    if (delivery.is !== 'failed') return delivery;
    await clock.sleep(pauseMs);
    delivery = await attempt();
  }
  return delivery;
}
