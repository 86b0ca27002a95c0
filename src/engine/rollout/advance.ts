/**
 * Continues the rollout of a run: begins a batch, pauses after it, asks the gate, and waits for approvals.
 *
 * Each change is one script that is carried out only while the run is as it was read (`RunStep`). Any process may call
 * this at any time, and after a kill the supervisor continues where the records are. A pause is a time in Redis.
 */

import type { StepChange } from '../../records/batch-store.ts';
import type { Notice } from '../../records/notice-store.ts';
import { JUMP_MS } from '../../redis/clock.ts';
import { endedCount } from '../../run/moves.ts';
import { approvedUpTo, begunBatches, formatBatch, lastApproval, type Rollout } from '../../run/rollout.ts';
import type { Run } from '../../run/run.ts';
import { type EngineDeps, noticeFor, policyOf } from '../deps.ts';
import { dispatch } from '../finish-run.ts';
import { recheckTargets } from '../plan/recheck-run.ts';
import { carryOutEnding } from '../supervise/end-run.ts';
import type { Asked } from './gate.ts';
import { hashFrom } from './place.ts';

/** Asks the service beside the caller: see `Gates`. */
interface Asker {
  ask(run: Run): void;
}

/** More changes than this in one call cannot be: there are at most 21 batches. */
const MAX_STEPS = 100;

/** Makes every step that is due. `gates`: asks the gate too; otherwise the supervisor does. */
export async function advance(deps: EngineDeps, runId: string, gates?: Asker): Promise<void> {
  for (let steps = 0; steps < MAX_STEPS; steps += 1) {
    const run = await deps.records.runs.get(runId);
    if (run?.status !== 'running' || !run.rollout || !run.planComplete || run.held || run.ending) return;
    if (!(await advanceOnce(deps, run, run.rollout, gates))) return;
  }
}

/** True when there may be more to do at once. */
async function advanceOnce(deps: EngineDeps, run: Run, rollout: Rollout, gates?: Asker): Promise<boolean> {
  const now = deps.clock.now();
  switch (rollout.is) {
    case 'ready':
      return beginNext(deps, run, rollout);
    case 'checking':
      gates?.ask(run);
      return false;
    case 'running':
      return endBatch(deps, run, rollout);
    case 'pausing':
      // The clock went back: the pause begins again, instead of lasting until a time that was set before.
      if ((rollout.batches[begunBatches(rollout) - 1]?.endedAt ?? now) - now >= JUMP_MS)
        return pause(deps, run, rollout);
      if (now < (rollout.until ?? 0)) return false;
      return stepTo(deps, run, { ...without(rollout), is: 'asking' });
    case 'asking':
      gates?.ask(run);
      return false;
    case 'closed':
      if (now >= (rollout.until ?? 0)) await endClosed(deps, run, rollout);
      return false;
  }
}

/** Without the time of the pause. */
export const without = ({ until: _over, ...rest }: Rollout): Omit<Rollout, 'until'> => rest;

const stepTo = (
  deps: EngineDeps,
  run: Run,
  rollout: Rollout,
  change: Omit<StepChange, 'at'> = {},
): Promise<boolean> =>
  deps.records.batches.step(run, { from: run.step ?? 0, rollout }, { at: deps.clock.now(), ...change });

/** Begins the next batch, once; or has the run wait for its approval. A batch without targets is passed over. */
async function beginNext(deps: EngineDeps, run: Run, rollout: Rollout): Promise<boolean> {
  const { records, clock } = deps;
  const next = begunBatches(rollout);
  const batch = rollout.batches[next];
  if (!batch) return false;
  const at = clock.now();
  if ((await records.batches.countOf(run.id, next + 1)) === 0)
    return stepTo(deps, run, {
      is: 'ready',
      batches: rollout.batches.with(next, { ...batch, begunAt: at, endedAt: at }),
    });
  if (approvedUpTo(run) < next + 1) {
    await awaitApproval(deps, run, rollout, next + 1);
    return false;
  }
  // The first batch of a run that did not wait begins with what the plan has just seen.
  if (next === 0 && !run.approvals) return begin(deps, run, rollout);
  const deadline = at + policyOf(run).timeout.runMs;
  return stepTo(deps, run, { ...rollout, is: 'checking' }, { deadline });
}

/** Begins the next batch: its targets may be dispatched. */
async function begin(deps: EngineDeps, run: Run, rollout: Rollout): Promise<boolean> {
  const next = begunBatches(rollout);
  const batch = rollout.batches[next];
  if (!batch) return false;
  const at = deps.clock.now();
  const begun: Rollout = { is: 'running', batches: rollout.batches.with(next, { ...batch, begunAt: at }) };
  const deadline = at + policyOf(run).timeout.runMs;
  if (!(await stepTo(deps, run, begun, { begins: next + 1, deadline }))) return true;
  deps.log.info(
    { run: run.id, targets: batch.targets },
    `${rollout.batches.length > 1 ? formatBatch(rollout, next) : 'work on the targets'} begins`,
  );
  await dispatch(deps, run.account);
  return false;
}

/**
 * Looks again at the targets of the next batch, and begins it: those that changed since the plan have ended as
 * `changed-since-plan`. Costs one request per 100 candidates of the policy.
 *
 * @throws the client's errors; then the batch has not begun.
 */
export async function checkNext(deps: EngineDeps, run: Run, signal: AbortSignal): Promise<void> {
  const { rollout } = run;
  if (!rollout) return;
  const next = begunBatches(rollout) + 1;
  const ids = await deps.records.batches.laterIds(run.id, next);
  const changed = await recheckTargets(deps, run, ids, signal);
  if (changed.length > 0)
    deps.log.info({ run: run.id, changed: changed.length }, 'targets have changed since the plan');
  await begin(deps, run, rollout);
}

/** The run waits for the approval of a batch. An earlier batch was approved alone. */
async function awaitApproval(deps: EngineDeps, run: Run, rollout: Rollout, from: number): Promise<void> {
  const { records, clock } = deps;
  const last = lastApproval(run);
  const policy = policyOf(run);
  if (!last || !policy.approval) return;
  const at = clock.now();
  const { decided: _decided, rejected: _rejected, ...kept } = last;
  const approval = {
    ...kept,
    hash: hashFrom(last.hash, from),
    since: at,
    expires: at + policy.approval.expiresMs,
    from,
    to: policy.approval.eachBatch ? from : rollout.batches.length,
  };
  const approvals = [...(run.approvals ?? []), approval];
  const step = { from: run.step ?? 0, approvals };
  const notice = approvalWanted(run, approvals.length, at);
  if (!(await records.runs.move(run, 'awaiting-approval', { at, step, notice }))) return;
  deps.log.info({ run: run.id }, 'a run waits for an approval');
}

/** The notice that a run waits for its `number`th approval. */
export const approvalWanted = (run: Run, number: number, at: number): Notice | undefined =>
  noticeFor(policyOf(run), { type: 'approval', run: run.id, at, is: 'wanted', number });

/** When every target of the batches that have begun has ended, the pause before the gate begins. */
async function endBatch(deps: EngineDeps, run: Run, rollout: Rollout): Promise<boolean> {
  const { records } = deps;
  const later = await records.batches.countLater(run.id);
  if (later === 0) return false;
  // Read after the number of those that have not begun: a target that ended in between counts at the next look.
  const { counts } = (await records.runs.get(run.id)) ?? run;
  if (counts.planned - endedCount(counts) > later) return false;
  return pause(deps, run, rollout);
}

async function pause(deps: EngineDeps, run: Run, rollout: Rollout): Promise<boolean> {
  const at = deps.clock.now();
  const last = begunBatches(rollout) - 1;
  const batch = rollout.batches[last];
  if (!batch) return false;
  const { rollout: rule, timeout } = policyOf(run);
  const until = at + (rule?.pauseMs ?? 0);
  const batches = rollout.batches.with(last, { ...batch, endedAt: at });
  // The gate has to be answered within the time limit of a run.
  return stepTo(deps, run, { is: 'pausing', until, batches }, { deadline: until + timeout.runMs });
}

/** What follows from the answer of a gate. */
export async function answerGate(deps: EngineDeps, asked: Run, { gate, seen }: Asked): Promise<void> {
  const { clock, log } = deps;
  const { rollout } = asked;
  if (!rollout) return;
  const last = begunBatches(rollout) - 1;
  const batch = rollout.batches[last];
  if (!batch) return;
  const batches = rollout.batches.with(last, { ...batch, gate });
  const policy = policyOf(asked);
  const at = clock.now();
  const until = at + (policy.rollout?.waitWhenClosedMs ?? 0);
  const next: Rollout = gate.is === 'open' ? { is: 'ready', batches } : { is: 'closed', until, batches };
  const detail = closedDetail(next, last);
  const notice = { type: 'gate-closed', run: asked.id, at, batch: last + 1, detail } as const;
  // A person may wait longer than the run may take.
  const deadline = until + policy.timeout.runMs;
  const closed = gate.is === 'closed' ? { detail, deadline, notice: noticeFor(policy, notice) } : {};
  if (!(await stepTo(deps, asked, next, { ...closed, seen: { batch: last + 1, targets: seen } }))) return;
  log.info({ run: asked.id }, `the gate after ${formatBatch(rollout, last)} is ${gate.is}: ${gate.why}`);
  await advance(deps, asked.id);
}

const closedDetail = (rollout: Rollout, last: number): string =>
  `The gate after ${formatBatch(rollout, last)} closed: ${rollout.batches[last]?.gate?.why ?? ''}`;

/** No one resumed a run whose gate is closed: what has not begun is not touched. */
async function endClosed(deps: EngineDeps, run: Run, rollout: Rollout): Promise<void> {
  const { records, clock } = deps;
  const step = { from: run.step ?? 0, rollout: { ...without(rollout) } };
  const detail = closedDetail(rollout, begunBatches(rollout) - 1);
  if (!(await records.batches.step(run, step, { at: clock.now(), ending: 'gate-closed', detail }))) return;
  await carryOutEnding(deps, { ...run, ending: 'gate-closed' });
}
