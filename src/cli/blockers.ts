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

export type Blocker = { is: 'away'; since: number } | { is: 'drained'; limit: number; until: number };

/** What blocks a run, if it has lasted for some seconds. */
export function blockerOf(standing: AccountHealth): Blocker | undefined {
  const { now, failingSince, failedAt = 0, watchedSince, limit, spent, resetsAt, own } = standing;
  if (failingSince !== undefined && failedAt >= watchedSince && now - failingSince >= REPORT_AFTER_MS)
    return { is: 'away', since: failingSince };
  // A run that uses up its account's requests itself is not blocked.
  if (spent && resetsAt - now > REPORT_AFTER_MS && own < limit / 2)
    return { is: 'drained', limit, until: resetsAt };
  return undefined;
}

/** Watches one run and prints what blocks it. */
export class Blockers {
  private told: Blocker | undefined;
  private lookedAt = 0;
  private window = { resetsAt: 0, requests: 0 };
  /** How many targets had ended, and since when no other has. */
  private still = { ended: 0, since: 0 };
  private toldLost = 0;
  private toldSlow = false;
  private readonly watchedSince: number;

  constructor(
    private readonly caretaker: Caretaker,
    private readonly terminal: Terminal,
    /** A run that cannot even be planned is cancelled. */
    private readonly callsOff: boolean,
  ) {
    this.watchedSince = caretaker.clock.now();
  }

  /** Checks at most once a second. */
  async look(run: Run): Promise<void> {
    const { clock } = this.caretaker;
    const now = clock.now();
    if (now - this.lookedAt < POLL_INTERVAL_MS) return;
    this.lookedAt = now;
    const { budget, client } = this.caretaker.link(run.account);
    const { failingSince, failedAt, limit, resetsAt, availableForActions } = await budget.state();
    if (resetsAt > this.window.resetsAt + REPORT_AFTER_MS) this.window = { resetsAt, requests: run.requests };
    const own = run.requests - this.window.requests;
    const { watchedSince } = this;
    const seen = { failingSince, failedAt, watchedSince };
    this.tell(blockerOf({ now, ...seen, limit, spent: availableForActions < 1, resetsAt, own }), now, run);
    this.tellSlow(client.waitingSince(), now, run);
    await this.lookForLost(run, now);
  }

  /** Where nothing has ended for a while, says how much of the work in flight the service has forgotten. */
  private async lookForLost(run: Run, now: number): Promise<void> {
    const ended = endedCount(run.counts);
    if (ended !== this.still.ended || this.still.since === 0) this.still = { ended, since: now };
    if (now - this.still.since < REPORT_AFTER_MS) return;
    this.still.since = now;
    const following = await this.caretaker.records.targets.inState(run.id, 'following', MAX_READ);
    const lost = following.filter(({ lostAt }) => lostAt !== undefined);
    const words = lost.length > this.toldLost ? formatLostWork(lost, now) : undefined;
    this.toldLost = lost.length;
    if (words) this.terminal.say(words);
  }

  /**
   * The result of `read`; prints a line when Redis does not answer. Nothing when `signal` aborts first.
   */
  async reading<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    const { clock } = this.caretaker;
    const since = clock.now();
    const answered = new AbortController();
    const both = AbortSignal.any([signal, answered.signal]);
    const answer = read().finally(() => answered.abort());
    await Promise.race([answer, clock.sleep(REPORT_AFTER_MS, both)]);
    if (!both.aborted) {
      this.terminal.say(
        `Redis has not responded since ${timeOfDay(since)}; nothing is lost, and work continues when it responds.`,
      );
      await Promise.race([answer, untilAborted(signal)]);
      if (!signal.aborted) this.terminal.say(`Redis answers again, after ${clockTime(clock.now() - since)}.`);
    }
    return signal.aborted ? undefined : answer;
  }

  private tellSlow(waitingSince: number | undefined, now: number, run: Run): void {
    if (this.toldSlow || this.told || waitingSince === undefined || now - waitingSince < SLOW_MS) return;
    this.toldSlow = true;
    const service = this.caretaker.settings.accounts[run.account]?.baseUrl ?? 'The service';
    this.terminal.say(
      `${service} has left a request of ${timeOfDay(waitingSince)} without an answer so far; it is given half a minute.`,
    );
  }

  private tell(found: Blocker | undefined, now: number, run: Run): void {
    const { told } = this;
    if (found?.is === told?.is) return;
    this.told = found;
    if (found?.is === 'away') {
      const goesOn = run.planComplete || !this.callsOff;
      this.terminal.say(
        `The service has not responded since ${timeOfDay(found.since)}${goesOn ? '; nothing is lost, and work continues when it responds' : ''}.`,
      );
    } else if (found) {
      this.terminal.say(
        `The account's ${found.limit} requests a minute are used up until ${timeOfDay(found.until)}, most of them not by this run; work continues then.`,
      );
    } else if (told?.is === 'away') {
      this.terminal.say(`The service responds again, after ${clockTime(now - told.since)}.`);
    } else this.terminal.say('The account has requests again.');
  }
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
