import { z } from 'zod';
import { isPermitted } from '../../access/principal.ts';
import { isoTime, isoTimeOrNull } from '../../clock.ts';
import type { QueueLook, SeenEntry } from '../../queue/queue-look.ts';
import type { Queues } from '../../queue/queues.ts';
import { queueNames } from '../../records/filter-values.ts';
import type { Records } from '../../records/records.ts';
import { countOf } from '../../text.ts';
import { type BaseDeps, defineCommand } from '../command.ts';
import { reason } from '../fields.ts';

export interface QueueCountDeps {
  queues: Pick<Queues, 'look'>;
}

const count = z.int().min(0);
const time = z.iso.datetime();
const seconds = z.number().min(0).nullable();
const beside = z.object({ targets: count, runs: count });
const entry = z.object({
  entry: z.string(),
  name: z.string(),
  run: z.string().nullable(),
  target: z.string().nullable(),
});

const QueueAnswer = z.object({
  queue: z.string(),
  paused: z.boolean(),
  waiting: count,
  delayed: count,
  active: count,
  oldest_waiting_since: time.nullable(),
  last_hour: z.object({ completed: count, failed: count }).describe('How many entries ended.'),
  minutes: z
    .array(z.object({ at: time, completed: count, failed: count }))
    .describe('The same for each of the last 180 minutes, oldest first.'),
  wait: z
    .object({ median: seconds, p95: seconds })
    .describe('Of the last 100 completed entries: how long they waited for a worker, in seconds.'),
  duration: z.object({ median: seconds, p95: seconds }).describe('The same: how long they took.'),
  active_entries: z.array(
    entry.extend({ since: time, process: z.string().nullable().describe('The process that has it.') }),
  ),
  failed_entries: z.array(entry.extend({ at: time, reason: z.string() })).describe('The last ones.'),
});

export const QueueReport = z.object({
  queues: z.array(QueueAnswer),
  processes: z.array(
    z.object({
      host: z.string(),
      pid: z.int(),
      version: z.string().nullable(),
      entries: count.describe('The entries that it has.'),
    }),
  ),
  followed: beside.describe('Targets whose work at the service is followed. They are no entries of a queue.'),
  due_later: beside.describe(
    'Targets that wait for their next step or attempt. They are no entries of a queue.',
  ),
});
export type QueueReport = z.output<typeof QueueReport>;

/** What each queue has and does, who works on it, and what the active runs wait for beside the queues. */
export async function readQueues(
  { queues, records }: QueueCountDeps & Pick<BaseDeps, 'records'>,
  now: number,
): Promise<QueueReport> {
  const [looks, running, { active }] = await Promise.all([
    queues.look(now),
    records.presence.running(now),
    records.totals.between(now, now),
  ]);
  const workers = running.filter(({ roles }) => roles.includes('worker'));
  const nameOf = new Map(running.map(({ id, host, pid }) => [id, `${host} (${pid})`]));
  const held = looks.flatMap((look) => look.held);
  return {
    queues: looks.map((look) => answerOf(look, nameOf)),
    processes: workers.map(({ id, host, pid, vitals }) => ({
      ...{ host, pid, version: vitals?.version ?? null },
      entries: held.filter(({ by }) => by === id).length,
    })),
    ...(await besideOf(records, active)),
  };
}

function answerOf(look: QueueLook, nameOf: ReadonlyMap<string, string>): z.output<typeof QueueAnswer> {
  const { queue, paused, waiting, delayed, active, oldestAt, minutes, waitedMs, tookMs } = look;
  const sumOf = (what: 'completed' | 'failed') =>
    minutes.slice(-60).reduce((sum, minute) => sum + minute[what], 0);
  return {
    ...{ queue, paused, waiting, delayed, active },
    oldest_waiting_since: isoTimeOrNull(oldestAt),
    last_hour: { completed: sumOf('completed'), failed: sumOf('failed') },
    minutes: minutes.map(({ at, completed, failed }) => ({ at: isoTime(at), completed, failed })),
    wait: { median: part(waitedMs, 0.5), p95: part(waitedMs, 0.95) },
    duration: { median: part(tookMs, 0.5), p95: part(tookMs, 0.95) },
    active_entries: look.held.map(({ since, by, ...one }) => ({
      ...entryOf(one),
      since: isoTime(since),
      process: by === undefined ? null : (nameOf.get(by) ?? by),
    })),
    failed_entries: look.failures.map(({ at, why, ...one }) => ({
      ...entryOf(one),
      at: isoTime(at),
      reason: why,
    })),
  };
}

const entryOf = ({ id, name, run, target }: SeenEntry) => ({
  ...{ entry: id, name },
  run: run ?? null,
  target: target ?? null,
});

/** The value below which this part of ascending values lies, in seconds; null without values. */
const part = (values: readonly number[], below: number): number | null => {
  const value = values[Math.ceil(values.length * below) - 1];
  return value === undefined ? null : value / 1_000;
};

/** The targets of these runs that are worked on without an entry in a queue. */
async function besideOf(
  { targets }: Pick<Records, 'targets'>,
  ids: readonly string[],
): Promise<Pick<QueueReport, 'followed' | 'due_later'>> {
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
    return { queues: [], processes: [], ...(await besideOf(deps.records, seen)) };
  },
  answer: QueueReport,
  toAnswer: (report) => report,
});

export interface QueueDeps {
  queues: Pick<Queues, 'pause' | 'resume'>;
}

const which = z.enum(queueNames).optional().describe('Only this queue. Default: all.');

export const pauseQueues = defineCommand<QueueDeps>()({
  name: 'queues.pause',
  summary: 'Pauses queues: workers take no more entries of them, in no process, until they are resumed.',
  role: 'operator',
  path: '/queues/pause',
  input: z.strictObject({ queue: which, reason }),
  subject: ({ queue }) => ({ detail: queue ?? 'all queues' }),
  carryOut: async ({ queue }, { queues }) => ({ paused: await queues.pause(queue && [queue]) }),
  outcome: ({ paused }) => ({ detail: paused.length === 0 ? 'all were paused' : paused.join(', ') }),
  answer: z.object({ paused: z.array(z.string()) }),
  toAnswer: ({ paused }) => ({ paused: [...paused] }),
});

export const resumeQueues = defineCommand<QueueDeps>()({
  name: 'queues.resume',
  summary: 'Resumes paused queues.',
  role: 'operator',
  path: '/queues/resume',
  input: z.strictObject({ queue: which, reason }),
  subject: ({ queue }) => ({ detail: queue ?? 'all queues' }),
  carryOut: async ({ queue }, { queues }) => ({ resumed: await queues.resume(queue && [queue]) }),
  outcome: ({ resumed }) => ({ detail: resumed.length === 0 ? 'none was paused' : resumed.join(', ') }),
  answer: z.object({ resumed: z.array(z.string()) }),
  toAnswer: ({ resumed }) => ({ resumed: [...resumed] }),
});
