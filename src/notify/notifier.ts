/**
 * Notifies people, in every process that works: makes the deliveries of notices, hands those that are due to the queue,
 * and attempts them. What has to be delivered is in the records: an entry that is lost with its process is put into the
 * queue again, since its delivery is still due.
 */
import type { Dispatcher } from 'undici';
import { type Clock, restOf } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Queues } from '../queue/queues.ts';
import type { HoldKind } from '../records/hold-store.ts';
import type { OpenNotice } from '../records/notice-store.ts';
import type { Records } from '../records/records.ts';
import { hostOfReceiver } from '../settings/channels.ts';
import type { Settings } from '../settings/settings.ts';
import { attempt, ReceiverSlots } from './attempt.ts';
import { followingOf } from './following-of.ts';
import { openConnections } from './post.ts';
import { combined } from './summary-message.ts';
import { Heartbeats, WATCH_INTERVAL_MS, watchSystem } from './system-watch.ts';

export interface NotifierOptions {
  records: Pick<
    Records,
    | 'alerts'
    | 'notices'
    | 'deliveries'
    | 'findings'
    | 'heartbeats'
    | 'holds'
    | 'measurements'
    | 'openFindings'
    | 'problems'
    | 'runs'
    | 'batches'
    | 'targets'
  >;
  queues: Pick<Queues, 'put' | 'deliver' | 'paused'>;
  settings: Pick<Settings, 'notifications'> & { dashboard?: Pick<Settings['dashboard'], 'publicUrl'> };
  clock: Clock;
  log: Log;
  /** Connections to receivers. Default: `openConnections`, with time limits. */
  dispatcher?: Dispatcher;
}

export interface Notifier {
  /**
   * Notifies until it is stopped, which waits for the attempts in progress. `isWell`: whether the process does its other
   * work, as heartbeats say. Default: it does.
   */
  work(isWell?: () => boolean): { stop(): Promise<void> };
  /** What a working process does once a second while anything is open: puts everything that is due into the queue. */
  tick(): Promise<void>;
  /**
   * Makes the deliveries of all notices, and attempts all that are due, once. For a process that is about to end, and
   * may be the only one. Takes half a minute at most; what was not delivered is left to the next process.
   */
  deliverDue(): Promise<void>;
}

const TICK_INTERVAL_MS = 1_000;
/** While nothing is open. A message that something was added may be lost with a connection. */
const IDLE_INTERVAL_MS = 5_000;
/** How many notices are read at once. */
const PAGE = 100;
/** How many deliveries to one receiver are handled in one tick. */
const DELIVERIES_IN_TICK = 50;
/** How often the taking of a notice is tried again because of another process. */
const MAX_TRIES = 5;
/** How many messages to one receiver that wait for each other are attempted at the end of a process. */
const MAX_ROUNDS = 10;
/** Deliveries that one process attempts at the same time: to one receiver, and in all. */
export const CONCURRENCY_OF_RECEIVER = 5;
const CONCURRENCY = 100;

/** Opens the notifier. It does nothing by itself. */
export function createNotifier(options: NotifierOptions): Notifier {
  const { records, queues, clock, log } = options;
  let opened: Dispatcher | undefined;
  const isAllowedHost = (host: string) =>
    Object.values(options.settings.notifications).some(
      (one) => one.allow_private === true && hostOfReceiver(one) === host,
    );
  const deps = {
    ...options,
    /** Opened for the first message. */
    get dispatcher() {
      opened ??= options.dispatcher ?? openConnections(isAllowedHost);
      return opened;
    },
  };
  const newSlots = () => new ReceiverSlots((id) => attempt(deps, id), CONCURRENCY_OF_RECEIVER);
  let slots = newSlots();
  /** The notices of which no deliveries could be made, so that each is logged once. */
  const troubled = new Set<string>();

  const isTaken = async (one: OpenNotice): Promise<boolean> => {
    // A notice of a newer release is left to a process of that release.
    if (!one.notice) return false;
    try {
      const { notifications: receivers, dashboard } = options.settings;
      const found = { records, receivers, publicUrl: dashboard?.publicUrl };
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const now = clock.now();
        const following = await followingOf(found, one.notice, now);
        if ((await records.notices.take(one, following, now)) !== 'changed') return true;
      }
      // Another process takes notices of the same policy at this moment; the next tick tries again.
      return false;
    } catch (error) {
      if (!troubled.has(one.text))
        log.error({ err: error, notice: one.notice }, `an event could not be reported: ${messageOf(error)}`);
      troubled.add(one.text);
      return false;
    }
  };

  const takeNotices = async () => {
    // Those that cannot be taken stay, and must not hide the ones after them.
    for (let left = 0; ; ) {
      const page = await records.notices.open(PAGE, left);
      for (const one of page) if (!(await isTaken(one))) left += 1;
      if (page.length < PAGE) return;
    }
  };

  const releaseHolds = async (early?: HoldKind) => {
    const now = clock.now();
    for (const hold of await records.holds.due(now, PAGE, early))
      await records.holds.release(hold, combined(hold), now);
  };

  const tick = async () => {
    await takeNotices();
    await releaseHolds();
    const due = (await records.deliveries.due(clock.now(), DELIVERIES_IN_TICK)).filter(
      ({ id, to }) => !slots.has(to, id),
    );
    if (due.length > 0)
      await queues.put(due.map(({ id, since, to }) => ({ kind: 'deliver', delivery: id, since, to })));
  };

  return {
    tick,
    work(isWell = () => true) {
      const stopping = new AbortController();
      const rest = restOf(clock, stopping.signal);
      const listening = records.notices.listen(rest.wake);
      listening.catch((error: unknown) => log.warn({ err: error }, 'new notices could not be listened to'));
      const heartbeats = new Heartbeats(deps);
      const own = newSlots();
      slots = own;
      const working = queues.deliver((id, to) => own.take(to, id), CONCURRENCY);
      const ticks = (async () => {
        let watchedAt = Number.NEGATIVE_INFINITY;
        const watch = async () => {
          const now = clock.now();
          // Also when the clock went back behind it.
          if (Math.abs(now - watchedAt) < WATCH_INTERVAL_MS) return;
          await watchSystem(deps);
          watchedAt = now;
        };
        let isFailing = false;
        while (!stopping.signal.aborted) {
          const isIdle = await watch()
            .then(tick)
            .then(() => (isWell() ? heartbeats.beat() : undefined))
            .then(async () => {
              isFailing = false;
              return !heartbeats.some() && !(await records.notices.anyOpen());
            })
            .catch((error: unknown) => {
              // Until a tick works, only the first error is a warning: one cause gives errors with many texts.
              log[isFailing ? 'debug' : 'warn'](
                { err: error },
                'notifications could not be read; the next tick tries again',
              );
              isFailing = true;
              return false;
            });
          await rest.for(isIdle ? IDLE_INTERVAL_MS : TICK_INTERVAL_MS, TICK_INTERVAL_MS);
        }
      })();
      return {
        async stop() {
          stopping.abort();
          own.stop();
          // Not awaited: Redis may be unavailable.
          void listening.then((stop) => stop()).catch(() => undefined);
          await Promise.all([ticks, working.stop()]);
        },
      };
    },
    async deliverDue() {
      await takeNotices();
      // No one may be there later to send what waits for others.
      await releaseHolds('group');
      const tried = new Set<string>();
      // Again for those that waited for an earlier one to the same receiver.
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        const due = await records.deliveries.due(clock.now(), DELIVERIES_IN_TICK);
        const next = due.filter(({ id }) => !tried.has(id));
        if (next.length === 0) return;
        await Promise.all(next.map(async ({ id }) => (await attempt(deps, id)) && tried.add(id)));
      }
    },
  };
}
