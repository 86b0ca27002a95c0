/** The public form of batches and approvals: see `report.ts`. */
import { z } from 'zod';
import { isoEnd, isoMinute, isoTime, isoTimeOrNull } from '../clock.ts';
import { countOf } from '../text.ts';
import { isFinal } from './moves.ts';
import {
  type Approval,
  type Batch,
  By,
  begunBatches,
  Decision,
  formatBatch,
  Gate,
  lastApproval,
  Rollout,
} from './rollout.ts';
import type { Run } from './run.ts';

const time = z.iso.datetime();
const ByReport = By.omit({ act: true }).extend({ at: time, reason: z.string().nullable() });
type ByReport = z.output<typeof ByReport>;

export const RolloutReport = Rollout.extend({
  until: time.nullable().describe('The end of the pause, or of the wait for a person.'),
  batches: z.array(
    z.object({
      takes: z.string(),
      targets: z.int(),
      begun_at: time.nullable(),
      ended_at: time.nullable(),
      gate: Gate.extend({ at: time, unhealthy: z.int().nullable() })
        .nullable()
        .describe('What the gate after it saw.'),
      pause_skipped: ByReport.nullable(),
      resumed: ByReport.nullable(),
    }),
  ),
});
export type RolloutReport = z.output<typeof RolloutReport>;

export const ApprovalReport = z.object({
  plan: z.string(),
  since: time,
  expires: time,
  why: z.string(),
  destructive: z.array(z.string()),
  requests: z.int().nullable(),
  batches: z.object({ from: z.int(), to: z.int() }),
  rejected: z.array(ByReport.extend({ targets: z.int() })),
  decided: ByReport.extend({ is: Decision.shape.is, up_to_batch: z.int().nullable() }).nullable(),
});
export type ApprovalReport = z.output<typeof ApprovalReport>;

const byReport = ({ by, at, reason }: By): ByReport => ({ by, at: isoTime(at), reason: reason ?? null });

export const rolloutReport = ({ is, until, batches }: Rollout): RolloutReport => ({
  is,
  until: isoTimeOrNull(until),
  batches: batches.map(({ takes, targets, begunAt, endedAt, gate, pauseSkipped, resumed }) => ({
    takes,
    targets,
    begun_at: isoTimeOrNull(begunAt),
    ended_at: isoTimeOrNull(endedAt),
    gate: gate ? { ...gate, at: isoTime(gate.at), unhealthy: gate.unhealthy ?? null } : null,
    pause_skipped: pauseSkipped ? byReport(pauseSkipped) : null,
    resumed: resumed ? byReport(resumed) : null,
  })),
});

export const approvalReport = (approval: Approval): ApprovalReport => ({
  plan: approval.hash,
  since: isoTime(approval.since),
  expires: isoTime(approval.expires),
  why: approval.why,
  destructive: approval.destructive ?? [],
  requests: approval.requests ?? null,
  batches: { from: approval.from, to: approval.to },
  rejected: (approval.rejected ?? []).map((one) => ({ ...byReport(one), targets: one.targets })),
  decided: approval.decided
    ? { ...byReport(approval.decided), is: approval.decided.is, up_to_batch: approval.decided.upTo ?? null }
    : null,
});

const atIn = (text: string): number => Date.parse(text);
const byIn = ({ by, at, reason }: ByReport): By => ({
  by,
  at: atIn(at),
  ...(reason === null ? {} : { reason }),
});

/** The rollout in its public form, read back. */
export const rolloutIn = ({ is, until, batches }: RolloutReport): Rollout => ({
  is,
  ...(until === null ? {} : { until: atIn(until) }),
  batches: batches.map(({ takes, targets, begun_at, ended_at, gate, pause_skipped, resumed }) => ({
    takes,
    targets,
    ...(begun_at === null ? {} : { begunAt: atIn(begun_at) }),
    ...(ended_at === null ? {} : { endedAt: atIn(ended_at) }),
    ...(gate ? { gate: gateIn(gate) } : {}),
    ...(pause_skipped ? { pauseSkipped: byIn(pause_skipped) } : {}),
    ...(resumed ? { resumed: byIn(resumed) } : {}),
  })),
});

const gateIn = ({ at, unhealthy, ...gate }: NonNullable<RolloutReport['batches'][number]['gate']>): Gate => ({
  ...gate,
  at: atIn(at),
  ...(unhealthy === null ? {} : { unhealthy }),
});

/** An approval in its public form, read back. */
export const approvalIn = (report: ApprovalReport): Approval => ({
  hash: report.plan,
  since: atIn(report.since),
  expires: atIn(report.expires),
  why: report.why,
  from: report.batches.from,
  to: report.batches.to,
  ...(report.destructive.length > 0 ? { destructive: [...report.destructive] } : {}),
  ...(report.requests === null ? {} : { requests: report.requests }),
  ...(report.rejected.length > 0
    ? { rejected: report.rejected.map((one) => ({ ...byIn(one), targets: one.targets })) }
    : {}),
  ...(report.decided
    ? {
        decided: {
          ...byIn(report.decided),
          is: report.decided.is,
          ...(report.decided.up_to_batch === null ? {} : { upTo: report.decided.up_to_batch }),
        },
      }
    : {}),
});

/** Why an approval is asked for, with the operations that are destructive. */
export function formatWhy({ why, destructive = [] }: Pick<Approval, 'why' | 'destructive'>): string {
  const unnamed = destructive.filter((operation) => !why.includes(operation));
  return unnamed.length === 0 ? why : `${why} Destructive: ${unnamed.join(', ')}.`;
}

/** What a run waits for because of its batches or approvals; undefined when for nothing. */
export function formatStanding(run: Run): string | undefined {
  const { rollout, status } = run;
  const approval = lastApproval(run);
  if (status === 'awaiting-approval' && approval) {
    return `It waits for an approval until ${isoMinute(approval.expires)}. ${formatWhy(approval)}`;
  }
  if (status !== 'running' || !rollout) return undefined;
  const until = isoEnd(rollout.until ?? 0);
  const last = formatBatch(rollout, Math.max(0, begunBatches(rollout) - 1));
  if (rollout.is === 'pausing') return `It pauses after ${last} until ${until}.`;
  if (rollout.is === 'asking') return `The gate after ${last} is being asked.`;
  if (rollout.is === 'closed')
    return `The gate after ${last} is closed; the run waits for a person until ${until}.`;
  return undefined;
}

/** What people decided about a run that waited for an approval, one sentence each. */
export const formatDecisions = ({ approvals = [] }: Pick<Run, 'approvals'>): string[] =>
  approvals.flatMap(({ decided, rejected = [] }) => [
    ...rejected.map(
      ({ by, targets, reason }) => `${by} rejected ${countOf(targets, 'target')}${because(reason)}`,
    ),
    ...(decided
      ? [
          `${decided.is === 'expired' ? 'It expired without a decision' : `${decided.by} ${decided.is} it`}${because(decided.reason)}`,
        ]
      : []),
  ]);

/** The batches of a run; none for one that only waited for an approval. */
export const batchesOfRun = ({ rollout }: Pick<Run, 'rollout'>): readonly Batch[] =>
  !rollout || (rollout.batches.length === 1 && rollout.batches[0]?.takes === 'all targets')
    ? []
    : rollout.batches;

/** One line for each batch, and one for what each gate and person decided. */
export function formatRollout(run: Run): string[] {
  const { rollout } = run;
  const standing = formatStanding(run);
  const batches = batchesOfRun(run).flatMap((batch, i) =>
    rollout ? batchLines(run, rollout, batch, i) : [],
  );
  return [...(standing === undefined ? [] : [standing]), ...formatDecisions(run), ...batches];
}

const because = (reason: string | undefined): string => (reason === undefined ? '.' : `: ${reason}`);

/** How far a batch is. The last one has no gate, so its end is that of the run. */
export function stateOfBatch(
  { status }: Pick<Run, 'status'>,
  { begunAt, endedAt }: Batch,
): 'pending' | 'running' | 'ended' {
  if (begunAt === undefined) return 'pending';
  return endedAt !== undefined || isFinal(status) ? 'ended' : 'running';
}

/** The result of the pause and the gate after a batch, one sentence each. */
export const formatAfterBatch = ({ gate, pauseSkipped, resumed }: Batch): string[] => [
  ...(pauseSkipped ? [`${pauseSkipped.by} skipped the pause${because(pauseSkipped.reason)}`] : []),
  ...(gate ? [`Gate ${gate.is}: ${gate.why}`] : []),
  ...(resumed ? [`${resumed.by} resumed it${because(resumed.reason)}`] : []),
];

const batchWords = { pending: 'has not begun', running: 'has begun', ended: 'ended' } as const;

function batchLines(run: Run, rollout: Rollout, batch: Batch, index: number): string[] {
  const name = formatBatch(rollout, index);
  const is = batchWords[stateOfBatch(run, batch)];
  return [
    `${name[0]?.toUpperCase()}${name.slice(1)}: ${countOf(batch.targets, 'target')}, ${is}.`,
    ...formatAfterBatch(batch).map((line) => `  ${line}`),
  ];
}
