/**
 * An account that refuses access (401, 403): all its runs wait, no attempt is counted, and one probe a minute
 * is sent.
 */
import { AccountRefusedError } from '../../client/errors.ts';
import { CaretakerError } from '../../errors.ts';
import { type EngineDeps, noticeFor, policyOf } from '../deps.ts';

/** How often a blocked account is probed. */
export const PROBE_INTERVAL_MS = 60_000;
/** The first probe comes sooner: perhaps only one process has a wrong token. */
export const FIRST_PROBE_DELAY_MS = 5_000;

/** Marks the account and moves its runs to `blocked`, each with its notice. */
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
    const detail = refusal.message;
    const notice = noticeFor(policyOf(run), { type: 'run', run: run.id, at, status: 'blocked', detail });
    if (!(await records.runs.move(run, 'blocked', { at, detail, notice }))) continue;
    log.warn({ run: run.id, account }, refusal.message);
  }
}

/**
 * Probes once whether the account accepts requests again, and continues its runs if it does. Costs one
 * request.
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
    // No other error shows whether the account gives access; the next probe tries again.
    if (error instanceof CaretakerError || signal?.aborted) return;
    throw error;
  }
  await admitAccount(deps, account);
}

/**
 * Continues the blocked runs of an account, because it accepted a request. Without blocked runs it only
 * removes the mark.
 */
export async function admitAccount(deps: EngineDeps, account: string): Promise<void> {
  const { records, clock, log } = deps;
  for (const run of await records.runs.active(account, { status: 'blocked' })) {
    await records.runs.clearDetail(run.id);
    // A run that was blocked while planning has no usable plan: it is planned again.
    await records.runs.move(run, run.planComplete ? 'running' : 'planning', { at: clock.now() });
    log.info({ run: run.id, account }, 'the account accepts requests again, the run continues');
  }
  // Last: if this process dies before, the mark remains, and the next supervisor continues the runs.
  await records.accounts.unblock(account, clock.now());
}
