/**
 * Runs in batches that wait for approvals: a person approves, rejects, skips a pause or passes a closed gate at a random
 * time, in a process that may be killed too and is then repeated; or nobody decides. No target is worked on that was not
 * approved, and no batch begins before the one before it did well.
 */
import { apiCall } from '../../jobs/api-call/job.ts';
import type { Policy } from '../../src/policy/policy.ts';
import type { AuditLine } from '../../src/records/audit-store.ts';
import { isFinal } from '../../src/run/moves.ts';
import { type Batch, lastApproval } from '../../src/run/rollout.ts';
import type { Run, Target } from '../../src/run/run.ts';
import { type Evidence, nextSites, type Staff, type Story, TARGETS, wrongOf } from './story.ts';

const NAME = 'chaos-rollout';
const MINUTE_MS = 60_000;
/** How long a person thinks about it, at most. */
const THINKING_MS = 30_000;
const CHOSEN = 7;

type Changes = Partial<NonNullable<Policy['rollout']> & NonNullable<Policy['approval']>>;

/** What happens in a round: what its policy has in addition, and what people do, in order. */
interface Part {
  changes?: Changes;
  /** Without an approval. */
  free?: true;
  acts: readonly {
    when: (run: Run) => boolean;
    command: string;
    input?: (only: readonly string[]) => object;
  }[];
  /** The status in which it ends where no gate closed by itself. */
  ends: readonly Run['status'][];
}

const waits = ({ status }: Run) => status === 'awaiting-approval';
const waitsAgain = (run: Run) => waits(run) && (run.approvals ?? []).length > 1;
const isAt = (is: string) => (run: Run) => run.rollout?.is === is;
const worked = ['succeeded', 'partial', 'failed'] as const;
const closed = { healthy: 'site.url == "nowhere"' };
const approve = { when: waits, command: 'runs.approve' };

const parts: readonly Part[] = [
  { acts: [approve], ends: worked },
  {
    acts: [
      { ...approve, input: () => ({ batch: 1 }) },
      { ...approve, when: waitsAgain },
    ],
    ends: worked,
  },
  { acts: [{ ...approve, input: (only) => ({ targets: only.slice(0, CHOSEN) }) }], ends: worked },
  {
    acts: [
      { when: waits, command: 'runs.reject', input: () => ({ batch: 2 }) },
      { when: waits, command: 'runs.reject', input: (only) => ({ targets: only.slice(0, 2) }) },
      approve,
    ],
    ends: worked,
  },
  { changes: { expiresMs: MINUTE_MS }, acts: [], ends: ['cancelled'] },
  { acts: [{ when: waits, command: 'runs.reject' }], ends: ['cancelled'] },
  {
    free: true,
    changes: { pauseMs: 60 * MINUTE_MS, batches: [{ count: 5 }] },
    acts: [{ when: isAt('pausing'), command: 'runs.resume' }],
    ends: worked,
  },
  {
    free: true,
    changes: { ...closed, waitWhenClosedMs: 60 * MINUTE_MS, batches: [{ count: 5 }] },
    acts: [{ when: isAt('closed'), command: 'runs.resume' }],
    ends: worked,
  },
  { changes: { ...closed, waitWhenClosedMs: MINUTE_MS }, acts: [approve], ends: ['stopped'] },
];

const contentOf = (at: number, round: number) => `Batch by batch, ${at}.${round}`;

/** The acts that people asked for, by run. */
const asked = new Map<string, number>();

export const rollouts: Story = {
  name: NAME,
  operations: ['createSiteNote'],
  begin(sandbox, at) {
    const only = nextSites(sandbox, at);
    const partOf = (round: number) => parts[round % parts.length] ?? { acts: [], ends: [] };
    return {
      policy: (round) => {
        const { changes, free } = partOf(round);
        const { expiresMs = 60 * MINUTE_MS, ...rollout } = changes ?? {};
        return {
          name: `${NAME}-${at}-${round}`,
          job: 'api-call',
          select: { from: 'listSites', filters: {} },
          options: apiCall.options.parse({
            operation: 'createSiteNote',
            body: { note: { content: contentOf(at, round) } },
          }),
          ...(free ? {} : { approval: { when: 'always', expiresMs } }),
          rollout: {
            batches: [{ count: 5 }, { percent: 30 }],
            pauseMs: 10_000,
            maxFailed: { percent: 100 },
            waitWhenClosedMs: 0,
            healthy: 'site.url != ""',
            ...rollout,
          },
        };
      },
      only,
      rounds: parts.length,
      planned: () => TARGETS,
      people: (run, round, staff) => play(partOf(round), run, only, staff),
      lies: (evidence) => lies(partOf(evidence.round), contentOf(at, evidence.round), evidence),
    };
  },
  async atEnd({ records }) {
    const acts = new Map<string, AuditLine[]>();
    for await (const { line } of records.audit.newestFirst({}))
      if (line.run?.startsWith(NAME)) acts.set(line.act, [line, ...(acts.get(line.act) ?? [])]);
    const wrong: string[] = [];
    for (const [run, count] of asked) {
      const own = [...acts.values()].filter(([line]) => line?.run === run);
      wrong.push(
        ...wrongOf(`${run} has ${own.length} acts in the audit log`, [
          [own.length !== count, `and ${count} were carried out`],
          [own.some((lines) => lines[0]?.result !== 'requested'), 'one of them without its request'],
          [!own.every((lines) => lines.some(({ result }) => result === 'done')), 'one without its result'],
        ]),
      );
    }
    asked.clear();
    return { wrong };
  },
};

/** People do their acts, each at a random time after it is possible. Gives what is wrong. */
async function play({ acts }: Part, run: string, only: readonly string[], staff: Staff): Promise<string[]> {
  for (const [at, { when, command, input }] of acts.entries()) {
    const found = await staff.waitFor(run, (now) => when(now) || isFinal(now.status));
    if (!found || isFinal(found.status)) return [];
    await staff.think(THINKING_MS);
    const error = await staff.carryOut(command, { run, ...input?.(only) }, `${run} ${at}`);
    if (error !== undefined) return [`${command} was refused: ${error}`];
    asked.set(run, (asked.get(run) ?? 0) + 1);
  }
  return [];
}

function* lies(part: Part, content: string, { run, targets, sandbox }: Evidence): Iterable<string> {
  const { rollout, approvals = [] } = run;
  const batches = rollout?.batches ?? [];
  const closedAt = batches.find(({ gate, resumed }) => gate?.is === 'closed' && !resumed);
  const ends = closedAt && part.acts.length > 0 ? ['stopped'] : part.ends;
  yield* wrongOf(`it is ${run.status} (${run.detail ?? ''})`, [
    [!ends.includes(run.status), `and was to be ${ends.join(' or ')}`],
    [part.free ? approvals.length > 0 : approvals.some(({ decided }) => !decided), 'and an approval is open'],
  ]);
  const chosen = lastApproval(run)?.decided?.targets;
  const done = targets.filter(({ reason }) => reason === 'done');
  if (chosen !== undefined && done.length > CHOSEN)
    yield `${done.length} are done, and ${CHOSEN} were approved`;
  for (const target of targets) yield* liesAbout(target, content, run, sandbox.site(target.id).notes());
  for (const [at, batch] of batches.entries()) yield* liesAboutBatch(at, batch, run, targets);
}

function* liesAbout(
  { id, reason = 'internal', batch = 0, startedAt }: Target,
  content: string,
  { rollout, approvals = [] }: Run,
  notes: readonly string[],
): Iterable<string> {
  const times = notes.filter((note) => note === content).length;
  const begunAt = rollout?.batches[batch - 1]?.begunAt;
  const approved = approvals.findLast(({ decided }) => decided?.is === 'approved')?.decided;
  yield* wrongOf(`${id} of batch ${batch} is ${reason} and has ${times} notes`, [
    [times > 1, 'more than one'],
    [times !== 1 && reason === 'done', 'and not one'],
    [
      times > 0 && ['not-approved', 'gate-closed', 'changed-since-plan'].includes(reason),
      'and was not to begin',
    ],
    [times > 0 && startedAt === undefined, 'and was not started'],
    [startedAt !== undefined && (begunAt === undefined || startedAt < begunAt), 'and began before its batch'],
    [
      startedAt !== undefined && approvals.length > 0 && batch > (approved?.upTo ?? 0),
      'and was not approved',
    ],
  ]);
}

export function* liesAboutBatch(
  at: number,
  batch: Batch,
  run: Run,
  targets: readonly Target[],
): Iterable<string> {
  const { begunAt, gate, resumed } = batch;
  const before = run.rollout?.batches[at - 1];
  if (begunAt === undefined) return;
  const last = Math.max(
    0,
    ...targets.flatMap((one) => (one.batch === at ? [one.finishedAt ?? Infinity] : [])),
  );
  const open = before?.resumed?.at ?? (before?.gate?.is === 'open' ? before.gate.at : undefined);
  // A batch without targets is passed over, without a gate.
  const isPassedOver = before !== undefined && before.begunAt === before.endedAt;
  yield* wrongOf(`batch ${at + 1} began at ${begunAt}`, [
    [at > 0 && begunAt < last, `and a target of the batch before ended at ${last}`],
    [at > 0 && !isPassedOver && open === undefined, `and its gate is ${JSON.stringify(gate ?? resumed)}`],
    [open !== undefined && begunAt < open, `and its gate opened at ${open}`],
    ...(run.approvals ?? []).map(
      ({ decided, expires, from, to }) =>
        [
          at + 1 >= from && at + 1 <= to && decided?.is === 'approved' && !(decided.at < expires),
          `and was approved at ${decided?.at}, after ${expires}`,
        ] as const,
    ),
  ]);
}
