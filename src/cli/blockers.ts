/**
 * Reports what blocks a run from outside: the service or Redis is unavailable, or other clients have used up
 * the account's requests. Each blocker is reported when it has lasted ten seconds, and again when it ends. A
 * slow response is reported once. Lost work is reported each time more of it is found.
 */
import type { Caretaker } from '../app/caretaker.ts';
import { isoClock } from '../clock.ts';
import { endedCount } from '../run/moves.ts';
import type { Run } from '../run/run.ts';
import { formatLostWork } from './output/run-advice.ts';
import { clockTime } from './output/show-run.ts';
import type { Terminal } from './output/terminal.ts';

/** Shorter interruptions are not reported. */
const REPORT_AFTER_MS = 10_000;
const POLL_INTERVAL_MS = 1_000;
/** A request without a response for this long is reported. */
const SLOW_MS = 4_000;
/** The maximum number of targets that are read to count lost work. */
const MAX_READ = 1_000;

/** The state of an account, read from its budget. */
export interface AccountHealth {
  now: number;
  /** The time since which no process has received a usable response. */
  failingSince?: number | undefined;
  /** The time of the last failure. */
  failedAt?: number | undefined;
  /** The time since which this run is watched. Earlier failures may be over. */
  watchedSince: number;
  limit: number;
  /** Whether the requests of the current window are used up, and when the window ends. */
  spent: boolean;
  resetsAt: number;
  /** Requests that this run has sent in the current window. */
  own: number;
}

export type Blocker =
  | { is: 'unavailable'; since: number }
  | { is: 'exhausted'; limit: number; until: number };

/** Returns what blocks a run, once it has lasted ten seconds. */
export function blockerOf(health: AccountHealth): Blocker | undefined {
  const { now, failingSince, failedAt = 0, watchedSince, limit, spent, resetsAt, own } = health;
  if (failingSince !== undefined && failedAt >= watchedSince && now - failingSince >= REPORT_AFTER_MS)
    return { is: 'unavailable', since: failingSince };
  // A run that uses up the requests of its account itself is not blocked.
  if (spent && resetsAt - now > REPORT_AFTER_MS && own < limit / 2)
    return { is: 'exhausted', limit, until: resetsAt };
  return undefined;
}

/** Watches one run and prints what blocks it. */
export class Blockers {
  private reported: Blocker | undefined;
  private checkedAt = 0;
  private window = { resetsAt: 0, requests: 0 };
  /** The number of ended targets, and the time since which it has not changed. */
  private idle = { ended: 0, since: 0 };
  private reportedLost = 0;
  private reportedSlow = false;
  private readonly watchedSince: number;

  constructor(
    private readonly caretaker: Caretaker,
    private readonly terminal: Terminal,
    /** Whether a run that cannot be planned is cancelled instead of continued later. */
    private readonly cancelIfRefused: boolean,
  ) {
    this.watchedSince = caretaker.clock.now();
  }

  /** Checks and reports, at most once a second. */
  async check(run: Run): Promise<void> {
    const { clock } = this.caretaker;
    const now = clock.now();
    if (now - this.checkedAt < POLL_INTERVAL_MS) return;
    this.checkedAt = now;
    const { budget, client } = this.caretaker.link(run.account);
    const [{ failingSince, failedAt, limit, resetsAt }, available] = await Promise.all([
      budget.state(),
      budget.availableForActions(),
    ]);
    if (resetsAt > this.window.resetsAt + REPORT_AFTER_MS) this.window = { resetsAt, requests: run.requests };
    const own = run.requests - this.window.requests;
    const { watchedSince } = this;
    const seen = { failingSince, failedAt, watchedSince };
    this.report(blockerOf({ now, ...seen, limit, spent: available < 1, resetsAt, own }), now, run);
    this.reportSlow(client.waitingSince(), now, run);
    await this.checkLostWork(run, now);
  }

  /**
   * When no target has ended for ten seconds, reports how much work in flight the service no longer knows.
   */
  private async checkLostWork(run: Run, now: number): Promise<void> {
    const ended = endedCount(run.counts);
    if (ended !== this.idle.ended || this.idle.since === 0) this.idle = { ended, since: now };
    if (now - this.idle.since < REPORT_AFTER_MS) return;
    this.idle.since = now;
    const following = await this.caretaker.records.targets.inState(run.id, 'following', MAX_READ);
    const lost = following.filter(({ lostAt }) => lostAt !== undefined);
    const text = lost.length > this.reportedLost ? formatLostWork(lost, now) : undefined;
    this.reportedLost = lost.length;
    if (text) this.terminal.message(text);
  }

  /**
   * Returns the result of `read`, and reports when Redis does not respond. Returns undefined when `signal`
   * aborts first.
   */
  async read<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    const { clock } = this.caretaker;
    const since = clock.now();
    const answered = new AbortController();
    const either = AbortSignal.any([signal, answered.signal]);
    const answer = read().finally(() => answered.abort());
    await Promise.race([answer, clock.sleep(REPORT_AFTER_MS, either)]);
    if (!either.aborted) {
      this.terminal.message(
        `Redis has not responded since ${isoClock(since)}. Nothing is lost; work continues when it responds.`,
      );
      await Promise.race([answer, untilAborted(signal)]);
      if (!signal.aborted)
        this.terminal.message(`Redis responds again, after ${clockTime(clock.now() - since)}.`);
    }
    return signal.aborted ? undefined : answer;
  }

  private reportSlow(waitingSince: number | undefined, now: number, run: Run): void {
    if (this.reportedSlow || this.reported || waitingSince === undefined || now - waitingSince < SLOW_MS)
      return;
    this.reportedSlow = true;
    const service = this.caretaker.settings.accounts[run.account]?.baseUrl ?? 'The service';
    this.terminal.message(
      `${service} has not responded to a request sent at ${isoClock(waitingSince)}. The request times out after 30 seconds.`,
    );
  }

  private report(found: Blocker | undefined, now: number, run: Run): void {
    const { reported } = this;
    if (found?.is === reported?.is) return;
    this.reported = found;
    if (found?.is === 'unavailable') {
      const continues = run.planComplete || !this.cancelIfRefused;
      this.terminal.message(
        `The service has not responded since ${isoClock(found.since)}.${continues ? ' Nothing is lost; work continues when it responds.' : ''}`,
      );
    } else if (found) {
      this.terminal.message(
        `The account's ${found.limit} requests per minute are used up, mostly by other clients. Work continues at ${isoClock(found.until)}.`,
      );
    } else if (reported?.is === 'unavailable') {
      this.terminal.message(`The service responds again, after ${clockTime(now - reported.since)}.`);
    } else this.terminal.message('The account has requests available again.');
  }
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
