/**
 * Writes what was done to the sites (`record:` of a policy), in every process that works. It takes one site of
 * an account at a time from the outbox. Its requests have a class of their own, so that they do not delay the
 * work of runs, and no run depends on their result.
 */
import { setMaxListeners } from 'node:events';
import { BudgetSpentError } from '../../budget/budget.ts';
import { AccountRefusedError, GoneError, UnavailableError } from '../../client/errors.ts';
import { type Rest, restOf } from '../../clock.ts';
import { HOUR_MS } from '../../dates.ts';
import { CaretakerError, messageOf } from '../../errors.ts';
import type { ClaimedSite, RecordKind } from '../../records/outbox-store.ts';
import { JUMP_MS } from '../../redis/clock.ts';
import type { Run } from '../../run/run.ts';
import { type EngineDeps, policyOf, RunCache, serves } from '../deps.ts';
import { writeEntries } from './custom-work.ts';
import { writeNote } from './living-note.ts';
import { ClaimLostError, type PendingRun, SiteWriter, TooEarlyError } from './site-writer.ts';

// Writes everything that is due to one site, and decides when the rest is tried again.

const FIRST_RETRY_MS = 60_000;
const MAX_RETRY_MS = HOUR_MS;
/** What failed this often in this time, while the service answered other requests, is given up. */
const GIVE_UP_MS = 24 * HOUR_MS;
const GIVE_UP_TRIES = 10;
/** Whatever the cause is, it is given up after this time. */
const GIVE_UP_ANYWAY_MS = 7 * 24 * HOUR_MS;
/** How long an account is left alone that refuses access, or does not answer. */
const REFUSED_PAUSE_MS = 5 * 60_000;
const OUTAGE_PAUSE_MS = 60_000;

const GONE = 'The site is no longer in the account.';

/** Reads a run; the fields of a run that never change may be cached. */
type ReadRun = (id: string) => Promise<Run | undefined>;

/**
 * Writes to a site what its claim names, as far as possible now. Returns until when nothing more should be sent
 * to the account, if anything stands in the way of all its sites.
 */
async function writeSite(
  deps: EngineDeps,
  claim: ClaimedSite,
  readRun: ReadRun,
  stopping: AbortSignal,
): Promise<number | undefined> {
  const writer = new SiteWriter(deps, claim, stopping);
  const pending = await pendingRuns(deps, claim, readRun);
  let error: unknown;
  try {
    await writeKinds(writer, pending);
  } catch (caught) {
    error = caught;
  }
  const [{ run } = { run: undefined }] = pending;
  if (run) await deps.records.outbox.countRequests(run.id, writer.requests);
  if (error instanceof ClaimLostError) return undefined;
  return leave(writer, pending, error, stopping);
}

async function pendingRuns(
  { records }: EngineDeps,
  { runs, site }: ClaimedSite,
  readRun: ReadRun,
): Promise<PendingRun[]> {
  const pending: PendingRun[] = [];
  for (const { id } of runs) {
    const [run, record] = await Promise.all([readRun(id), records.outbox.recordOf(id, site)]);
    // A run that was removed takes what it would have written with it.
    if (run && record) pending.push({ run, policy: policyOf(run), record });
  }
  return pending;
}

/** Whether nothing else can be sent either. */
const concernsAll = (error: unknown): boolean =>
  error instanceof AccountRefusedError ||
  error instanceof BudgetSpentError ||
  error instanceof ClaimLostError;

const isPending =
  (kind: RecordKind) =>
  ({ record }: PendingRun): boolean =>
    record[kind] === 'pending';

async function writeKinds(writer: SiteWriter, pending: readonly PendingRun[]): Promise<void> {
  let later: unknown;
  const attempt = async (kind: RecordKind, runs: readonly PendingRun[], write: () => Promise<void>) => {
    try {
      if (runs.length > 0) await write();
    } catch (error) {
      if (error instanceof GoneError) return writer.settle(runs, kind, { state: 'failed', why: GONE });
      if (concernsAll(error) || writer.isStopping) throw error;
      // The others may still be written.
      if (later === undefined || later instanceof TooEarlyError) later = error;
    }
  };
  const works = pending.filter(isPending('work'));
  await attempt('work', works, () => writeEntries(writer, works));
  const notes = pending.filter(isPending('note'));
  for (const policy of new Set(notes.map(({ run }) => run.policy))) {
    const runs = notes.filter(({ run }) => run.policy === policy);
    await attempt('note', runs, () => writeNote(writer, policy, runs));
  }
  if (later !== undefined) throw later;
}

/** Ends the claim. What is not written stays in the outbox, or is given up. */
async function leave(
  writer: SiteWriter,
  pending: readonly PendingRun[],
  error: unknown,
  stopping: AbortSignal,
): Promise<number | undefined> {
  const { deps, claim } = writer;
  const { outbox } = deps.records;
  const now = deps.clock.now();
  const retryAt = now + Math.min(FIRST_RETRY_MS * 2 ** claim.waits, MAX_RETRY_MS);
  if (error === undefined) {
    await outbox.leave(claim, claim.runs, { due: retryAt });
    return undefined;
  }
  if (stopping.aborted) {
    await outbox.leave(claim, [], { due: now, waits: claim.waits });
    return undefined;
  }
  if (error instanceof BudgetSpentError) {
    await outbox.leave(claim, [], { due: error.until, waits: claim.waits });
    return error.until;
  }
  const isOutage = error instanceof UnavailableError && !(await writer.answers());
  const { message: detail, due, pauseUntil, isUnreached } = circumstances(error, { now, retryAt, isOutage });
  if (!(error instanceof CaretakerError))
    deps.log.error({ account: claim.account, site: claim.site, err: error }, 'a record failed unexpectedly');
  const waits = claim.waits + (isUnreached ? 0 : 1);
  const longest = waits < GIVE_UP_TRIES ? GIVE_UP_ANYWAY_MS : GIVE_UP_MS;
  const isOver = ({ record }: PendingRun) => now - record.since > longest;
  for (const kind of ['work', 'note'] as const)
    await writer.settle(pending.filter(isPending(kind)).filter(isOver), kind, {
      state: 'failed',
      why: detail,
    });
  const written = await settledRuns(deps, claim);
  await outbox.leave(claim, written, { due, waits, detail });
  return pauseUntil;
}

/** What an error means for the next try. */
function circumstances(
  error: unknown,
  { now, retryAt, isOutage }: { now: number; retryAt: number; isOutage: boolean },
) {
  const message = messageOf(error);
  if (error instanceof TooEarlyError) return { message, due: error.until, isUnreached: true };
  if (error instanceof AccountRefusedError) {
    const pauseUntil = now + REFUSED_PAUSE_MS;
    return { message, due: pauseUntil, pauseUntil, isUnreached: true };
  }
  if (error instanceof UnavailableError && isOutage) {
    const pauseUntil = now + OUTAGE_PAUSE_MS;
    return { message, due: pauseUntil, pauseUntil, isUnreached: true };
  }
  return { message, due: retryAt, isUnreached: false };
}

/** The runs of a claim that have nothing left to be written. */
async function settledRuns(
  { records }: EngineDeps,
  { runs, site }: ClaimedSite,
): Promise<ClaimedSite['runs']> {
  const settled: ClaimedSite['runs'] = [];
  for (const run of runs) {
    const record = await records.outbox.recordOf(run.id, site);
    if (record?.work !== 'pending' && record?.note !== 'pending') settled.push(run);
  }
  return settled;
}

const TICK_INTERVAL_MS = 1_000;
/** While the outbox is empty. An event that a target ended may be lost with a connection. */
const IDLE_INTERVAL_MS = 5_000;
/** A claim expires after this time. What its holder still sends after that is not sent. */
const CLAIM_MS = 60_000;

export class Recorder {
  private readonly rounds = new Map<string, Promise<void>>();
  /** Until when nothing is sent to an account. */
  private readonly pauses = new Map<string, number>();
  /** Of these runs, only the fields that never change are current. */
  private readonly runs: RunCache<Run>;
  private readonly stopping = new AbortController();
  private readonly waiting = new AbortController();
  private readonly rest: Rest;
  private loop: Promise<void> | undefined;
  /** When the outbox was last looked at. */
  private lookedAt: number | undefined;

  constructor(private readonly deps: EngineDeps) {
    this.runs = new RunCache(deps.records, (run) => run);
    this.rest = restOf(deps.clock, this.stopping.signal);
    // Every request adds a listener.
    setMaxListeners(0, this.waiting.signal);
  }

  start(): void {
    this.loop ??= this.run();
  }

  /** Something may have been added to the outbox. */
  wake(): void {
    this.rest.wake();
  }

  /** Takes no more sites, and waits for the one in progress of each account. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
    await Promise.all(this.rounds.values());
  }

  /** Stops waiting for answers. The process that takes the site next looks for what the request did. */
  stopWaiting(): void {
    this.waiting.abort();
  }

  private async run(): Promise<void> {
    const { log } = this.deps;
    while (!this.stopping.signal.aborted) {
      const isIdle = await this.tick().catch((error: unknown) => {
        log.warn({ err: error }, 'the outbox could not be read; the next tick tries again');
        return false;
      });
      await this.rest.for(isIdle ? IDLE_INTERVAL_MS : TICK_INTERVAL_MS, TICK_INTERVAL_MS);
    }
  }

  /** Whether the outbox is empty. */
  private async tick(): Promise<boolean> {
    const { records, clock, log } = this.deps;
    const accounts = await records.outbox.accounts();
    await this.takeBack(accounts);
    for (const account of accounts) {
      if (!serves(this.deps, { account }) || this.rounds.has(account)) continue;
      if (clock.now() < (this.pauses.get(account) ?? 0)) continue;
      const round = this.writeSites(account)
        .catch((error: unknown) =>
          log.warn({ account, err: error }, `what was done could not be recorded: ${messageOf(error)}`),
        )
        .finally(() => this.rounds.delete(account));
      this.rounds.set(account, round);
    }
    return accounts.length === 0;
  }

  /** When the clock went back, nothing waits for a time that was set before. */
  private async takeBack(accounts: readonly string[]): Promise<void> {
    const { records, clock } = this.deps;
    const now = clock.now();
    const before = this.lookedAt ?? now;
    if (before - now >= JUMP_MS) {
      this.pauses.clear();
      for (const account of accounts) await records.outbox.takeBack(account, { now, before });
    }
    this.lookedAt = now;
  }

  /** Writes to the sites of an account that are due, until there are none or something stands in the way. */
  private async writeSites(account: string): Promise<void> {
    const { records, clock, addressOf } = this.deps;
    while (!this.stopping.signal.aborted) {
      const claim = await records.outbox.claim(account, clock.now(), CLAIM_MS, addressOf(account));
      if (!claim) return;
      const until = await writeSite(this.deps, claim, (id) => this.runs.get(id), this.waiting.signal);
      if (until === undefined) continue;
      this.pauses.set(account, until);
      return;
    }
  }
}
