/**
 * What keeps a run from going on through no fault of its own: the service away, its requests used up by
 * others, Redis away. Each is told once when it has lasted, and once when it is over. That an answer is slow
 * to come is told once, and work that the service has forgotten as more of it is found out.
 */
import type { Caretaker } from '../app/caretaker.ts';
import { endedCount } from '../run/moves.ts';
import type { Run } from '../run/run.ts';
import { formatLostWork } from './output/run-advice.ts';
import { clockTime, timeOfDay } from './output/show-run.ts';
import type { Terminal } from './output/terminal.ts';

/** What lasts no longer is nothing to tell. */
const REPORT_AFTER_MS = 10_000;
const POLL_INTERVAL_MS = 1_000;
/** So long a person looks on before he asks himself what is wrong. */
const SLOW_MS = 4_000;
/** More of a run is not read only to say how much of its work is lost. */
const MAX_READ = 1_000;

/** How the account stands, as its budget tells. */
export interface AccountHealth {
  now: number;
  /** Since when nobody got a usable answer. */
  failingSince?: number | undefined;
  /** When that was last seen. */
  failedAt?: number | undefined;
  /** Since when this run is watched: what was seen before may be over. */
  watchedSince: number;
  limit: number;
  /** Whether anything is left of this window that may be spent, and until when it lasts. */
  spent: boolean;
  resetsAt: number;
  /** Requests of this run in this window. */
  own: number;
}

export type Blocker = { is: 'away'; since: number } | { is: 'drained'; limit: number; until: number };

/** What hinders a run, if anything has for a while. */
export function blockerOf(standing: AccountHealth): Blocker | undefined {
  const { now, failingSince, failedAt = 0, watchedSince, limit, spent, resetsAt, own } = standing;
  if (failingSince !== undefined && failedAt >= watchedSince && now - failingSince >= REPORT_AFTER_MS)
    return { is: 'away', since: failingSince };
  // A run that uses up its account's requests by itself is at work, not hindered.
  if (spent && resetsAt - now > REPORT_AFTER_MS && own < limit / 2)
    return { is: 'drained', limit, until: resetsAt };
  return undefined;
}

/** Watches over one run and says aloud what changes. */
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

  /** Looks at most once a second. */
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
   * What `read` gives; says so when Redis leaves it without an answer. Nothing when `signal` aborts before.
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
