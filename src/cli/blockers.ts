/**
 * What blocks a run from outside: the service or Redis is unavailable, or other clients have used up the
 * account's requests. Each is reported once after some seconds, and once when it has ended. A slow answer is
 * reported once, lost work each time more of it is found.
 */
import type { Caretaker } from '../app/caretaker.ts';
import { endedCount } from '../run/moves.ts';
import type { Run } from '../run/run.ts';
import { formatLostWork } from './output/run-advice.ts';
import { clockTime, timeOfDay } from './output/show-run.ts';
import type { Terminal } from './output/terminal.ts';

/** What ends sooner is not reported. */
const REPORT_AFTER_MS = 10_000;
const POLL_INTERVAL_MS = 1_000;
/** A request without an answer for so long is reported. */
const SLOW_MS = 4_000;
/** At most so many targets are read to count lost work. */
const MAX_READ = 1_000;

/** The state of an account, from its budget. */
export interface AccountHealth {
  now: number;
  /** Since when nobody got a usable answer. */
  failingSince?: number | undefined;
  /** When that was last seen. */
  failedAt?: number | undefined;
  /** Since when this run is watched: what was seen before may be over. */
  watchedSince: number;
  limit: number;
  /** Whether the requests of this window are used up, and when the window ends. */
  spent: boolean;
  resetsAt: number;
  /** Requests of this run in this window. */
  own: number;
}

export type Blocker =
  | { is: 'unavailable'; since: number }
  | { is: 'exhausted'; limit: number; until: number };

/** What blocks a run, if it has lasted for some seconds. */
export function blockerOf(health: AccountHealth): Blocker | undefined {
  const { now, failingSince, failedAt = 0, watchedSince, limit, spent, resetsAt, own } = health;
  if (failingSince !== undefined && failedAt >= watchedSince && now - failingSince >= REPORT_AFTER_MS)
    return { is: 'unavailable', since: failingSince };
  // A run that uses up its account's requests itself is not blocked.
  if (spent && resetsAt - now > REPORT_AFTER_MS && own < limit / 2)
    return { is: 'exhausted', limit, until: resetsAt };
  return undefined;
}

/** Watches one run and prints what blocks it. */
export class Blockers {
  private reported: Blocker | undefined;
  private checkedAt = 0;
  private window = { resetsAt: 0, requests: 0 };
  /** How many targets had ended, and since when no other has. */
  private idle = { ended: 0, since: 0 };
  private reportedLost = 0;
  private reportedSlow = false;
  private readonly watchedSince: number;

  constructor(
    private readonly caretaker: Caretaker,
    private readonly terminal: Terminal,
    /** A run that cannot even be planned is cancelled. */
    private readonly cancelIfRefused: boolean,
  ) {
    this.watchedSince = caretaker.clock.now();
  }

  /** Checks at most once a second. */
  async check(run: Run): Promise<void> {
    const { clock } = this.caretaker;
    const now = clock.now();
    if (now - this.checkedAt < POLL_INTERVAL_MS) return;
    this.checkedAt = now;
    const { budget, client } = this.caretaker.link(run.account);
    const { failingSince, failedAt, limit, resetsAt, availableForActions } = await budget.state();
    if (resetsAt > this.window.resetsAt + REPORT_AFTER_MS) this.window = { resetsAt, requests: run.requests };
    const own = run.requests - this.window.requests;
    const { watchedSince } = this;
    const seen = { failingSince, failedAt, watchedSince };
    this.report(blockerOf({ now, ...seen, limit, spent: availableForActions < 1, resetsAt, own }), now, run);
    this.reportSlow(client.waitingSince(), now, run);
    await this.checkLostWork(run, now);
  }

  /** Where nothing has ended for a while, says how much of the work in flight the service has forgotten. */
  private async checkLostWork(run: Run, now: number): Promise<void> {
    const ended = endedCount(run.counts);
    if (ended !== this.idle.ended || this.idle.since === 0) this.idle = { ended, since: now };
    if (now - this.idle.since < REPORT_AFTER_MS) return;
    this.idle.since = now;
    const following = await this.caretaker.records.targets.inState(run.id, 'following', MAX_READ);
    const lost = following.filter(({ lostAt }) => lostAt !== undefined);
    const words = lost.length > this.reportedLost ? formatLostWork(lost, now) : undefined;
    this.reportedLost = lost.length;
    if (words) this.terminal.message(words);
  }

  /**
   * The result of `read`; prints a line when Redis does not answer. Nothing when `signal` aborts first.
   */
  async read<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    const { clock } = this.caretaker;
    const since = clock.now();
    const answered = new AbortController();
    const both = AbortSignal.any([signal, answered.signal]);
    const answer = read().finally(() => answered.abort());
    await Promise.race([answer, clock.sleep(REPORT_AFTER_MS, both)]);
    if (!both.aborted) {
      this.terminal.message(
        `Redis has not responded since ${timeOfDay(since)}; nothing is lost, and work continues when it responds.`,
      );
      await Promise.race([answer, untilAborted(signal)]);
      if (!signal.aborted)
        this.terminal.message(`Redis answers again, after ${clockTime(clock.now() - since)}.`);
    }
    return signal.aborted ? undefined : answer;
  }

  private reportSlow(waitingSince: number | undefined, now: number, run: Run): void {
    if (this.reportedSlow || this.reported || waitingSince === undefined || now - waitingSince < SLOW_MS)
      return;
    this.reportedSlow = true;
    const service = this.caretaker.settings.accounts[run.account]?.baseUrl ?? 'The service';
    this.terminal.message(
      `${service} has left a request of ${timeOfDay(waitingSince)} without an answer so far; it is given half a minute.`,
    );
  }

  private report(found: Blocker | undefined, now: number, run: Run): void {
    const { reported } = this;
    if (found?.is === reported?.is) return;
    this.reported = found;
    if (found?.is === 'unavailable') {
      const goesOn = run.planComplete || !this.cancelIfRefused;
      this.terminal.message(
        `The service has not responded since ${timeOfDay(found.since)}${goesOn ? '; nothing is lost, and work continues when it responds' : ''}.`,
      );
    } else if (found) {
      this.terminal.message(
        `The account's ${found.limit} requests a minute are used up until ${timeOfDay(found.until)}, most of them not by this run; work continues then.`,
      );
    } else if (reported?.is === 'unavailable') {
      this.terminal.message(`The service responds again, after ${clockTime(now - reported.since)}.`);
    } else this.terminal.message('The account has requests again.');
  }
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
