/** Approvals: which runs wait for one, and to approve or reject them. */
import { z } from 'zod';
import { isPermitted } from '../../access/principal.ts';
import { isoTime } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { policyOf } from '../../engine/deps.ts';
import type { Engine } from '../../engine/engine.ts';
import { whyMayNotDecide } from '../../engine/rollout/approval.ts';
import { type Approval, lastApproval } from '../../run/rollout.ts';
import type { Run } from '../../run/run.ts';
import { countOf } from '../../text.ts';
import { OneRun, oneRun } from '../answers.ts';
import { type Act, type BaseDeps, defineCommand } from '../command.ts';
import { reason, runId } from '../fields.ts';
import { runOf, subjectOfRun } from '../runs.ts';

export interface ApproveDeps {
  engine: Pick<Engine, 'approve' | 'reject'>;
}

/** A run that waits for an approval. */
export interface WaitingRun {
  run: Run;
  approval: Approval;
  /** Why the caller may not approve it. */
  whyNot: string | undefined;
  /** What is new in its plan; missing when no run of the policy was approved before, or none of the last runs. */
  since?: PlanChange;
}

/** The targets of a run against those of the last approved one of its policy. */
interface PlanChange {
  run: string;
  at: number;
  /** How many are new, the labels of the first ones, and how many are no longer there. */
  added: number;
  firstAdded: readonly string[];
  removed: number;
}

/** How many runs of a policy are looked at for one that was approved. */
const MAX_LOOKED = 50;
/** Plans with more targets are not compared. */
const MAX_COMPARED = 5_000;
const MAX_NAMED = 5;

async function changeSinceApproved(
  { records: { runs, targets } }: Pick<BaseDeps, 'records'>,
  run: Run,
): Promise<PlanChange | undefined> {
  const earlier = await runs.list({ policy: run.policy, until: run.createdAt, limit: MAX_LOOKED });
  const last = earlier.find(
    ({ account, approvals = [] }) =>
      account === run.account && approvals.some(({ decided }) => decided?.is === 'approved'),
  );
  if (!last || Math.max(last.counts.planned, run.counts.planned) > MAX_COMPARED) return undefined;
  const known = new Set<string>();
  for await (const { id } of targets.all(last.id)) known.add(id);
  const added: string[] = [];
  for await (const { id, label } of targets.all(run.id)) if (!known.delete(id)) added.push(label);
  const [at, removed] = [last.createdAt, known.size];
  return { run: last.id, at, added: added.length, firstAdded: added.slice(0, MAX_NAMED), removed };
}

/** `3 more targets than the last approved run: a.example, b.example and 1 more; 2 are no longer there` */
export function formatChange({ added, firstAdded, removed }: PlanChange): string {
  if (added + removed === 0) return 'The same targets as the last approved run.';
  const more = added - firstAdded.length;
  const names = `${firstAdded.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  const parts = [
    ...(added > 0 ? [`${countOf(added, 'target')} that ${added === 1 ? 'is' : 'are'} new: ${names}`] : []),
    ...(removed > 0 ? [`${removed} no longer there`] : []),
  ];
  return `Since the last approved run: ${parts.join('; ')}.`;
}

const time = z.iso.datetime();

export const listApprovals = defineCommand()({
  name: 'approvals.list',
  summary: 'Lists the runs that wait for an approval, those that expire first at the beginning.',
  role: 'viewer',
  reads: true,
  path: '/approvals',
  input: z.strictObject({}),
  subject: () => undefined,
  async carryOut(_input, { records }, { by: { principal } }): Promise<WaitingRun[]> {
    const waiting = (await records.runs.list({ status: 'awaiting-approval', limit: 1_000 }))
      .filter(({ policy, account }) => isPermitted(principal, 'viewer', { policy, account }))
      .flatMap((run) => {
        const approval = lastApproval(run);
        if (!approval || approval.decided) return [];
        return [{ run, approval, whyNot: whyMayNotDecide(run, policyOf(run), principal, 'approve') }];
      })
      .sort((a, b) => a.approval.expires - b.approval.expires);
    // Of those that are decided first.
    const changes = await Promise.all(
      waiting.slice(0, MAX_LOOKED).map(({ run }) => changeSinceApproved({ records }, run)),
    );
    return waiting.map((one, at) => ({ ...one, ...defined({ since: changes[at] }) }));
  },
  answer: z.object({
    approvals: z.array(
      z.object({
        run: z.string(),
        policy: z.string(),
        account: z.string(),
        since: time,
        expires: time,
        plan: z.string().describe('The hash of the plan, to be sent with the decision.'),
        why: z.string(),
        destructive: z.array(z.string()).describe('The destructive operations that it can call.'),
        batches: z.object({ from: z.int(), to: z.int(), of: z.int() }),
        targets: z.int(),
        requests: z.int().nullable().describe('The estimated cost.'),
        changed: z
          .object({
            run: z.string(),
            added: z.int(),
            first_added: z.array(z.string()),
            removed: z.int(),
          })
          .nullable()
          .describe(
            'How the targets differ from those of the last approved run of the policy; null: there is none among the last runs.',
          ),
        may_not: z.string().nullable().describe('Why the caller may not approve it.'),
      }),
    ),
  }),
  toAnswer: (waiting) => ({ approvals: waiting.map(toApprovalAnswer) }),
});

/** The public form of a run that waits. */
export const toApprovalAnswer = ({ run, approval, whyNot, since }: WaitingRun) => ({
  run: run.id,
  policy: run.policy,
  account: run.account,
  since: isoTime(approval.since),
  expires: isoTime(approval.expires),
  plan: approval.hash,
  why: approval.why,
  destructive: approval.destructive ?? [],
  batches: { from: approval.from, to: approval.to, of: run.rollout?.batches.length ?? 1 },
  targets: openTargets(run),
  requests: approval.requests ?? null,
  changed: since
    ? { run: since.run, added: since.added, first_added: [...since.firstAdded], removed: since.removed }
    : null,
  may_not: whyNot ?? null,
});

/** How many targets have not ended. */
export const openTargets = ({ counts }: Pick<Run, 'counts'>): number =>
  counts.planned - counts.succeeded - counts.failed - counts.skipped - counts.cancelled;

const input = z.strictObject({
  run: runId,
  reason,
  plan: z
    .string()
    .optional()
    .describe('The hash of the plan that was shown; a decision about another plan is refused.'),
  targets: z
    .array(z.string().min(1))
    .min(1)
    .max(10_000)
    .optional()
    .describe('Only these targets, by their ids.'),
});

type Input = z.output<typeof input> & { batch?: number | undefined };

const decidingOf = ({ reason: why, plan, batch, targets }: Input, { by, id }: Act) => ({
  by: by.principal,
  act: id,
  ...defined({ reason: why, hash: plan, batch, targets }),
});

/** `batch`: what the number of a batch means. */
const decision = (how: 'approve' | 'reject', { summary, batch }: Record<'summary' | 'batch', string>) =>
  defineCommand<ApproveDeps>()({
    name: `runs.${how}`,
    summary,
    role: 'approver',
    path: `/runs/{run}/${how}`,
    input: input.extend({ batch: z.int().min(1).optional().describe(batch) }),
    subject: subjectOfRun,
    async carryOut(given, deps, act) {
      await deps.engine[how](given.run, decidingOf(given, act));
      return runOf(deps, given.run);
    },
    answer: OneRun,
    toAnswer: oneRun,
  });

export const approveRun = decision('approve', {
  summary:
    'Approves a run that waits for it: whole, up to a batch, or only some targets; the others are not done.',
  batch: 'Only up to this batch.',
});

export const rejectRun = decision('reject', {
  summary:
    'Rejects a run that waits for an approval; or one of its batches or some targets, while the rest waits on.',
  batch: 'Only this batch.',
});
