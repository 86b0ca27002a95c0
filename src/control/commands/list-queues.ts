import { z } from 'zod';
import { isPermitted } from '../../access/principal.ts';
import type { Queues } from '../../queue/queues.ts';
import type { Records } from '../../records/records.ts';
import { countOf } from '../../text.ts';
import { defineCommand } from '../command.ts';
import { reason } from '../fields.ts';

export interface QueueCountDeps {
  queues: Pick<Queues, 'counts' | 'paused'>;
}

const count = z.int().min(0);
const beside = z.object({ targets: count, runs: count });

export const QueueReport = z.object({
  queues: z.array(z.object({ queue: z.string(), waiting: count, active: count, paused: z.boolean() })),
  followed: beside.describe('Targets whose work at the service is followed. They are no entries of a queue.'),
  due_later: beside.describe(
    'Targets that wait for their next step or attempt. They are no entries of a queue.',
  ),
});
export type QueueReport = z.output<typeof QueueReport>;

/** What waits and is active in each queue, and what the active runs wait for beside the queues. */
export async function readQueues(
  { queues, records }: QueueCountDeps & { records: Pick<Records, 'totals' | 'targets'> },
  now: number,
): Promise<QueueReport> {
  const [counts, paused, { active }] = await Promise.all([
    queues.counts(),
    queues.paused(),
    records.totals.between(now, now),
  ]);
  return {
    queues: Object.entries(counts).map(([queue, entries]) => ({
      queue,
      ...entries,
      paused: paused.includes(queue),
    })),
    ...(await besideOf(records, active)),
  };
}

/** The targets of these runs that are worked on without an entry in a queue. */
async function besideOf(
  { targets }: Pick<Records, 'targets'>,
  ids: readonly string[],
): Promise<Omit<QueueReport, 'queues'>> {
  const runs = await targets.countBesideQueues(ids);
  const sumOf = (state: 'following' | 'waiting') => ({
    targets: runs.reduce((sum, run) => sum + run[state], 0),
    runs: runs.filter((run) => run[state] > 0).length,
  });
  return { followed: sumOf('following'), due_later: sumOf('waiting') };
}

/** Why a queue can be empty beside a running run: a sentence for each kind of target that has no entry. */
export const besideQueues = ({ followed, due_later }: QueueReport): string[] => [
  ...(followed.targets === 0
    ? []
    : [`${of(followed)} followed at the service, without an entry in a queue.`]),
  ...(due_later.targets === 0
    ? []
    : [`${of(due_later)} waiting for a next step or attempt, without an entry in a queue.`]),
];

const of = ({ targets, runs }: QueueReport['followed']): string =>
  `${countOf(targets, 'target')} of ${countOf(runs, 'run')} ${targets === 1 ? 'is' : 'are'}`;

export const listQueues = defineCommand<QueueCountDeps>()({
  name: 'queues.list',
  summary: 'Shows how many entries each queue has, and how many targets are worked on without one.',
  role: 'viewer',
  reads: true,
  path: '/queues',
  input: z.strictObject({}),
  subject: () => undefined,
  /** The queues are of everyone: a user with limits sees only what becomes of the runs that these cover. */
  async carryOut(_input, deps, { by: { principal } }) {
    const now = deps.clock.now();
    if (isPermitted(principal, 'viewer')) return readQueues(deps, now);
    const { runs, totals } = deps.records;
    const active = await runs.many((await totals.between(now, now)).active);
    const seen = active.filter((run) => isPermitted(principal, 'viewer', run)).map(({ id }) => id);
    return { queues: [], ...(await besideOf(deps.records, seen)) };
  },
  answer: QueueReport,
  toAnswer: (report) => report,
});

export interface QueueDeps {
  queues: Pick<Queues, 'resume'>;
}

export const resumeQueues = defineCommand<QueueDeps>()({
  name: 'queues.resume',
  summary: 'Resumes every paused queue.',
  role: 'operator',
  path: '/queues/resume',
  input: z.strictObject({ reason }),
  subject: () => ({}),
  carryOut: async (_input, { queues }) => ({ resumed: await queues.resume() }),
  outcome: ({ resumed }) => ({ detail: resumed.length === 0 ? 'none was paused' : resumed.join(', ') }),
  answer: z.object({ resumed: z.array(z.string()) }),
  toAnswer: ({ resumed }) => ({ resumed: [...resumed] }),
});
