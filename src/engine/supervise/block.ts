/**
 * An account that refuses us (401, 403): all its runs stand still, nothing is used up, one probe a minute.
 */
import { AccountRefusedError } from '../../client/errors.ts';
import { CaretakerError } from '../../errors.ts';
import { type EngineDeps, policyOf } from '../deps.ts';

/** How often a blocked account is asked whether it lets us in again. */
export const PROBE_INTERVAL_MS = 60_000;
/** The first probe comes sooner: it may have been a single process with a wrong token that was refused. */
export const FIRST_PROBE_DELAY_MS = 5_000;

/** Marks the account and moves its runs to `blocked`, telling about each once. */
export async function blockAccount(
  deps: EngineDeps,
  account: string,
  refusal: AccountRefusedError,
): Promise<void> {
  const { records, clock, log } = deps;
  const at = clock.now();
  await records.accounts.block(account, { since: at, why: refusal.message });
  for (const run of await records.runs.active(account)) {
    if (run.status === 'queued' || run.status === 'blocked') continue;
    if (!(await records.runs.move(run, 'blocked', { at, detail: refusal.message }))) continue;
    log.warn({ run: run.id, account }, refusal.message);
    deps.onRunEnded?.({ ...run, status: 'blocked', detail: refusal.message }, policyOf(run));
  }
}

/**
 * Asks once whether the account lets us in again, and lets its runs go on when it does. Costs one request.
 */
export async function probeAccount(deps: EngineDeps, account: string, signal?: AbortSignal): Promise<void> {
  const { client } = deps.link(account);
  try {
    await client.call(
      'listTags',
      { perPage: 1 },
      { requestClass: 'control', whenSpent: 'leave', ...(signal ? { signal } : {}) },
    );
  } catch (error) {
    if (error instanceof AccountRefusedError) return;
    // Anything else says nothing about the account; the next probe asks again.
    if (error instanceof CaretakerError || signal?.aborted) return;
    throw error;
  }
  await admitAccount(deps, account);
}

/** Lets the runs of an account go on, because it has let us in. Changes nothing where none is blocked. */
export async function admitAccount(deps: EngineDeps, account: string): Promise<void> {
  const { records, clock, log } = deps;
  for (const run of await records.runs.active(account)) {
    if (run.status !== 'blocked') continue;
    await records.runs.clearDetail(run.id);
    // A run that was blocked while planning has planned nothing it could rely on: it plans again.
    await records.runs.move(run, run.planComplete ? 'running' : 'planning', { at: clock.now() });
    log.info({ run: run.id, account }, 'the account accepts requests again, the run continues');
  }
  // Last, so that whoever dies in between leaves the mark by which the next one knows that there is something
  // to do.
  await records.accounts.unblock(account);
}
