/** Decisions of people about runs that wait for an approval, and what happens when no one decides. */
import { isPermitted, type Principal, type Role, roles } from '../../access/principal.ts';
import { isoMinute } from '../../clock.ts';
import { defined } from '../../defined.ts';
import type { Policy } from '../../policy/policy.ts';
import type { RunStep } from '../../records/batch-store.ts';
import { type Approval, type By, type Decision, lastApproval } from '../../run/rollout.ts';
import type { Run } from '../../run/run.ts';
import { countOf } from '../../text.ts';
import { type EngineDeps, noticeFor, policyOf } from '../deps.ts';
import { ApprovalError } from '../errors.ts';
import { dispatch, finishIfDone } from '../finish-run.ts';
import { carryOutEnding } from '../supervise/end-run.ts';
import { endRejected } from '../supervise/end-unstarted.ts';
import { advance } from './advance.ts';

/** A decision as a person makes it. */
export interface Deciding {
  by: Principal;
  reason?: string;
  /** The hash of the plan that the person saw; a decision about another one is refused. */
  hash?: string;
  /** The act that asked for it: a repetition of an act that is done already changes nothing. */
  act?: string;
  /** Approve up to this batch; or reject only this one. */
  batch?: number;
  /** Approve only these targets; or reject only these. */
  targets?: readonly string[];
}

/** Several people may decide about single targets at the same time. */
const MAX_TRIES = 10;

/** Whether this person may approve or reject a run; the reason why not. */
export function whyMayNotDecide(
  run: Pick<Run, 'policy' | 'account' | 'startedBy'>,
  { approval }: Pick<Policy, 'approval'>,
  by: Principal,
  decision: 'approve' | 'reject',
): string | undefined {
  const subject = { policy: run.policy, account: run.account };
  if (!isPermitted(by, 'approver', subject))
    return `${by.name} does not have the role approver for ${run.policy}.`;
  const isRole = (name: string): name is Role => roles.some((role) => role === name);
  const isNamed = (name: string) => name === by.name || (isRole(name) && isPermitted(by, name, subject));
  if (approval?.by && !approval.by.some(isNamed))
    return `Only ${new Intl.ListFormat('en', { type: 'disjunction' }).format(approval.by)} may decide about runs of ${run.policy} (approval.by), and not ${by.name}.`;
  if (decision === 'approve' && approval?.separate && run.startedBy?.name === by.name)
    return `${by.name} started the run, and another person has to approve it (approval.separate).`;
  return undefined;
}

interface Waiting {
  run: Run;
  approval: Approval;
  /** When the decision is made: before the approval expires. */
  at: number;
}

/** @throws {ApprovalError} */
async function waitingRun(
  { records, clock }: EngineDeps,
  runId: string,
  decision: 'approve' | 'reject',
  { by, hash }: Deciding,
): Promise<Waiting> {
  const run = await records.runs.get(runId);
  if (!run) throw new ApprovalError(`There is no run "${runId}".`);
  const approval = lastApproval(run);
  if (run.status !== 'awaiting-approval' || !approval || approval.decided || run.ending) {
    const { decided } = approval ?? {};
    const was = decided ? `: it was ${decided.is} by ${decided.by}` : '';
    throw new ApprovalError(
      `The run ${runId} does not wait for an approval${was}. Its status is ${run.status}.`,
    );
  }
  const why = whyMayNotDecide(run, policyOf(run), by, decision);
  if (why !== undefined) throw new ApprovalError(why);
  if (run.held)
    throw new ApprovalError(
      `The run ${runId} is held. Release it first: caretaker runs resume ${runId} --release.`,
    );
  if (hash !== undefined && hash !== approval.hash)
    throw new ApprovalError(
      `The run ${runId} waits with another plan (${approval.hash}) than the one that was shown (${hash}). Look at it again.`,
    );
  const at = clock.now();
  if (at >= approval.expires)
    throw new ApprovalError(`The approval of ${runId} expired at ${isoMinute(approval.expires)}.`);
  return { run, approval, at };
}

/**
 * Makes a decision with `decide`, once: again while the run changes between reading and writing, as when two people
 * decide about different targets. `decide` is false when the run has changed.
 */
async function decideOnce(
  deps: EngineDeps,
  runId: string,
  decision: 'approve' | 'reject',
  deciding: Deciding,
  decide: (waiting: Waiting) => Promise<boolean>,
): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (await isDone(deps, runId, deciding)) return;
    if (await decide(await waitingRun(deps, runId, decision, deciding))) return;
  }
  throw new ApprovalError(`The run ${runId} changes again and again. Try again.`);
}

/**
 * Approves a run, so that it starts: whole, up to a batch, or only some targets; the others end as `not-approved`. The
 * time limit of the run begins again.
 *
 * @throws {ApprovalError} when the run does not wait, the person may not, or the plan is another one; then nothing has
 * changed.
 */
export const approveRun = (deps: EngineDeps, runId: string, deciding: Deciding): Promise<void> =>
  decideOnce(deps, runId, 'approve', deciding, async ({ run, approval, at }) => {
    const upTo = batchUpTo(run, approval, deciding.batch);
    const by = byOf(deciding, at);
    const approved = deciding.targets && (await openTargets(deps, run, deciding.targets));
    const rejects = approved
      ? (await deps.records.batches.laterIds(run.id)).filter((id) => !approved.has(id))
      : [];
    const decided: Decision = {
      ...by,
      is: 'approved',
      upTo,
      ...(approved ? { targets: approved.size } : {}),
    };
    const { noted, ...rejected } = rejecting(approval, rejects, by);
    const approvals = withLast(run, { ...noted, decided });
    const deadline = at + policyOf(run).timeout.runMs;
    const change = { at, deadline, step: { from: run.step ?? 0, approvals, ...rejected } };
    if (!(await deps.records.runs.move(run, 'running', change))) return false;
    deps.log.info({ run: run.id, by: by.by }, 'a run was approved');
    await endRejected(deps, run);
    await advance(deps, run.id);
    await dispatch(deps, run.account);
    await finishIfDone(deps, run.id);
    return true;
  });

const byOf = ({ by, reason, act }: Deciding, at: number): By => ({
  by: by.name,
  at,
  ...defined({ reason, act }),
});

/** Whether this act has decided already. */
async function isDone({ records }: EngineDeps, runId: string, { act }: Deciding): Promise<boolean> {
  const { approvals = [] } = (await records.runs.get(runId)) ?? {};
  const isOfAct = (by: By | undefined) => by?.act === act;
  return (
    act !== undefined &&
    approvals.some(({ decided, rejected = [] }) => isOfAct(decided) || rejected.some(isOfAct))
  );
}

/** The last batch that a decision approves. */
function batchUpTo(run: Run, { from, to }: Approval, batch: number | undefined): number {
  if (batch !== undefined && !policyOf(run).rollout)
    throw new ApprovalError(
      `The run ${run.id} has no batches, because its policy has no "rollout". Leave out the batch to decide for all targets, or name targets.`,
    );
  const { rollout } = run;
  const last = rollout?.batches.length ?? to;
  const upTo = batch ?? to;
  if (upTo < from || upTo > last)
    throw new ApprovalError(
      `There is no batch ${upTo} that waits: ${from === last ? `only batch ${last} does` : `those from ${from} to ${last} do`}.`,
    );
  return upTo;
}

const withLast = ({ approvals = [] }: Run, approval: Approval): Approval[] => [
  ...approvals.slice(0, -1),
  approval,
];

/**
 * Rejects a run, which ends as `cancelled`; or one of its batches or some targets, which end as `not-approved` while
 * the rest waits on.
 *
 * @throws {ApprovalError} as `approveRun`.
 */
export const rejectRun = (deps: EngineDeps, runId: string, deciding: Deciding): Promise<void> =>
  decideOnce(deps, runId, 'reject', deciding, async ({ run, approval, at }) => {
    const { targets, batch, reason } = deciding;
    const by = byOf(deciding, at);
    if (!targets && batch === undefined) {
      const because = reason === undefined ? '.' : `: ${reason}`;
      return conclude(deps, run, approval, { ...by, is: 'rejected' }, `${by.by} rejected it${because}`);
    }
    const { records, log } = deps;
    const rejects = targets
      ? [...(await openTargets(deps, run, targets))]
      : await records.batches.laterIds(run.id, batchUpTo(run, approval, batch));
    // The batch was rejected before.
    if (rejects.length === 0) return true;
    const { noted, ...rejected } = rejecting(approval, rejects, by, batch);
    const step = { from: run.step ?? 0, approvals: withLast(run, noted), ...rejected };
    if (!(await records.batches.step(run, step, { at }))) return false;
    log.info({ run: run.id, by: by.by }, `${countOf(rejects.length, 'target')} rejected`);
    await endRejected(deps, run);
    await finishIfDone(deps, run.id);
    return true;
  });

/** What a decision writes when it rejects these targets: who did it, and that they may not begin. */
function rejecting(
  approval: Approval,
  ids: readonly string[],
  by: By,
  batch?: number,
): { noted: Approval } & Pick<RunStep, 'rejects'> {
  if (ids.length === 0) return { noted: approval };
  const rejected = { ...by, targets: ids.length, ...defined({ batch }) };
  const detail = `${by.by} rejected it${by.reason === undefined ? '.' : `: ${by.reason}`}`;
  return {
    noted: { ...approval, rejected: [...(approval.rejected ?? []), rejected] },
    rejects: { ids, detail },
  };
}

/** Ends the wait without an approval: exactly one process does. */
async function conclude(
  deps: EngineDeps,
  run: Run,
  approval: Approval,
  decided: Decision,
  detail: string,
): Promise<boolean> {
  const { records, clock, log } = deps;
  const step = { from: run.step ?? 0, approvals: withLast(run, { ...approval, decided }) };
  const at = clock.now();
  const expired = {
    type: 'approval',
    run: run.id,
    at,
    is: 'expired',
    number: step.approvals.length,
    detail,
  } as const;
  const notice = decided.is === 'expired' ? noticeFor(policyOf(run), expired) : undefined;
  if (!(await records.batches.step(run, step, { at, ending: 'not-approved', detail, notice }))) return false;
  log.info({ run: run.id, by: decided.by }, `a run was not approved: ${detail}`);
  await carryOutEnding(deps, { ...run, ending: 'not-approved' });
  return true;
}

/** A run that waits for an approval ends when no one decided in time. */
export async function maintainApproval(deps: EngineDeps, run: Run): Promise<void> {
  const approval = lastApproval(run);
  if (!approval || approval.decided || run.ending || run.held) return;
  const at = deps.clock.now();
  if (at < approval.expires) return finishIfDone(deps, run.id);
  const decided = { is: 'expired', by: 'caretaker', at } as const;
  const detail = `It was not approved before ${isoMinute(approval.expires)} (approval.expires).`;
  await conclude(deps, run, approval, decided, detail);
}

/** Targets by their ids that wait. @throws {ApprovalError} for any other id. */
async function openTargets(
  { records }: EngineDeps,
  run: Run,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const open = new Set(await records.batches.laterIds(run.id));
  const unknown = ids.filter((id) => !open.has(id));
  if (unknown.length > 0)
    throw new ApprovalError(
      `${unknown.join(', ')}: no such ${unknown.length === 1 ? 'target waits' : 'targets wait'} in the run ${run.id}.`,
    );
  return new Set(ids);
}
