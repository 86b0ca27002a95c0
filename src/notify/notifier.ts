/** Notifies the receivers that a policy names under `notify` about its runs, and when it was paused. */
import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Policy } from '../policy/policy.ts';
import type { Pause } from '../records/policy-store.ts';
import { isFinal } from '../run/moves.ts';
import type { Run } from '../run/run.ts';
import type { Notification, Settings } from '../settings/settings.ts';
import type { Notice } from './channel.ts';
import { send } from './channels.ts';
import { messageAbout, messageAboutDeadline, messageAboutFindings, messageAboutPause } from './message.ts';
import { type Delivery, openConnections } from './post.ts';

export interface NotifierOptions {
  settings: Pick<Settings, 'notifications'>;
  clock: Clock;
  log: Log;
  /** Connections to receivers. Default: `openConnections`, with time limits. */
  dispatcher?: Dispatcher;
}

export interface Notifier {
  /**
   * Notifies all receivers that the policy names for the run's status, and for new and resolved findings, in
   * parallel. Resolves after the last
   * delivery or its last retry.
   *
   * Never rejects: a failed delivery is logged as an error. Usually takes milliseconds, but over a minute when
   * receivers fail, so callers should not hold locks meanwhile.
   */
  runEnded(run: Run, policy: Policy): Promise<void>;
  /** The same for `deadline`: the run is predicted to miss its deadline, or has missed it. */
  deadlineMissed(run: Run, policy: Policy): Promise<void>;
  /** The same for `paused`: the policy was paused automatically after this run (`pause_after_failures`). */
  policyPaused(run: Run, policy: Policy, pause: Pause): Promise<void>;
}

/** A notice with what the log needs. */
interface LoggedNotice extends Notice {
  run: Run;
  /** What the notice is about, as the log says it. */
  what: string;
}

/** The pauses before the retries of a delivery. */
const RETRY_PAUSES_MS = [1_000, 5_000];

/** Opens the notifier. Nothing is sent before a run ends. */
export function createNotifier({
  settings,
  clock,
  log,
  dispatcher = openConnections(),
}: NotifierOptions): Notifier {
  const notifyOne = async (to: string, notice: LoggedNotice): Promise<void> => {
    const receiver = settings.notifications[to];
    const delivery: Delivery = receiver
      ? await deliverWithRetries(notice, receiver, clock, dispatcher)
      : { is: 'rejected', why: 'there is no such name under notifications in the config' };
    const { event, run } = notice;
    const facts = { event, run: run.id, policy: run.policy, status: run.status, to };
    if (delivery.is === 'delivered') log.debug(facts, 'a notification was delivered');
    else log.error(facts, `"${to}" was not notified ${notice.what}: ${delivery.why}`);
  };

  const receiversOf = ({ notify }: Policy, trigger: string): string[] => [
    ...new Set(notify.filter(({ on }) => on.includes(trigger)).map(({ to }) => to)),
  ];

  const notifyAll = async (receivers: readonly string[], notice: LoggedNotice): Promise<void> => {
    await Promise.all(receivers.map((to) => notifyOne(to, notice)));
  };

  /** One message about both, for whoever asked for one of them. */
  const notifyChanges = async (run: Run, policy: Policy): Promise<void> => {
    const { new: added = 0, resolved = 0 } = (isFinal(run.status) && run.findings) || {};
    if (added + resolved === 0) return;
    const ofNew = added > 0 ? receiversOf(policy, 'findings') : [];
    const ofResolved = resolved > 0 ? receiversOf(policy, 'recovered') : [];
    const notice = { message: messageAboutFindings(run), run, what: `about the findings of ${run.id}` };
    await Promise.all([
      notifyAll(ofNew, { ...notice, event: 'policy.findings' }),
      notifyAll(
        ofResolved.filter((to) => !ofNew.includes(to)),
        { ...notice, event: 'policy.recovered' },
      ),
    ]);
  };

  return {
    async runEnded(run, policy) {
      const [event, what] = [`run.${run.status}` as const, `about the run ${run.id}`];
      const notice = { event, message: messageAbout(run), run, what };
      await Promise.all([notifyAll(receiversOf(policy, run.status), notice), notifyChanges(run, policy)]);
    },
    deadlineMissed(run, policy) {
      const what = `that the run ${run.id} misses its deadline`;
      const notice = { event: 'run.deadline' as const, message: messageAboutDeadline(run), run, what };
      return notifyAll(receiversOf(policy, 'deadline'), notice);
    },
    policyPaused(run, policy, pause) {
      const message = messageAboutPause(run, pause);
      const what = `that the policy ${policy.name} was paused`;
      return notifyAll(receiversOf(policy, 'paused'), { event: 'policy.paused', message, run, what });
    },
  };
}

async function deliverWithRetries(
  notice: Notice,
  receiver: Notification,
  clock: Clock,
  dispatcher: Dispatcher,
): Promise<Delivery> {
  const attempt = () => send(notice, receiver, { clock, dispatcher });
  let delivery = await attempt();
  for (const pauseMs of RETRY_PAUSES_MS) {
    if (delivery.is !== 'failed') return delivery;
    await clock.sleep(pauseMs);
    delivery = await attempt();
  }
  return delivery;
}
