/** Writes everything that is due to one site, and decides when the rest is tried again. */
import { BudgetSpentError } from '../../budget/budget.ts';
import { AccountRefusedError, GoneError, UnavailableError } from '../../client/errors.ts';
import { HOUR_MS } from '../../dates.ts';
import { CaretakerError, messageOf } from '../../errors.ts';
import type { ClaimedSite, RecordKind } from '../../records/outbox-store.ts';
import type { Run } from '../../run/run.ts';
import { type EngineDeps, policyOf } from '../deps.ts';
import { writeEntries } from './custom-work.ts';
import { writeNote } from './living-note.ts';
import { ClaimLostError, type PendingRun, SiteWriter, TooEarlyError } from './site-writer.ts';

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
export type ReadRun = (id: string) => Promise<Run | undefined>;

/**
 * Writes to a site what its claim names, as far as possible now. Returns until when nothing more should be sent
 * to the account, if anything stands in the way of all its sites.
 */
export async function writeSite(
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
