/**
 * Writes the entries of a list into files: activity logs, snapshots, tasks, runs of auto updates.
 *
 * A target is a list: that of the account, or that of one site. Where its last run stopped is known from its files:
 * the time of their newest entry. From `overlap` before that time, entries are read again, because the service may
 * show an entry late, and recognized by their ids.
 */
import { z } from 'zod';
import type { Item, ListId } from '../../src/contract/operations.ts';
import { DAY_MS } from '../../src/dates.ts';
import type { Answer } from '../../src/job/answer.ts';
import { ArchiveError, ArchiveFolder } from '../../src/job/archive/file.ts';
import {
  type CandidateList,
  type Identified,
  idOf,
  isList,
  labelOf,
  ownParameter,
} from '../../src/job/candidates.ts';
import { type Acting, defineJob, type OptionFault } from '../../src/job/job.ts';
import { duration } from '../../src/job/options.ts';
import { problemWith } from '../../src/job/problem.ts';
import { csvOf, type Entry, type Format, folderOf, jsonLinesOf, timeFieldOf } from './entries.ts';
import { ArchivedTarget } from './files.ts';

const Options = z.strictObject({
  archive_dir: ArchiveFolder.describe('The folder of the archive, as an absolute path.'),
  format: z
    .enum(['csv', 'jsonl'])
    .default('csv')
    .describe(
      'The form of the files: comma-separated values, or a line of JSON for each entry. Default csv.',
    ),
  period: z
    .enum(['day', 'month'])
    .default('month')
    .describe('The period of one file, in UTC. Default month.'),
  lookback: duration(60_000)
    .default(30 * DAY_MS)
    .describe('How far the first run goes back. Default 30d.'),
  overlap: duration()
    .default(DAY_MS)
    .describe(
      'How far before the newest archived entry each run reads again, for entries that are shown late or change. Default 1d.',
    ),
  keep: z
    .optional(duration(DAY_MS))
    .describe('Files whose period ended longer ago than this are removed. Default: none is.'),
});
type Options = z.output<typeof Options>;

const State = z.object({
  list: z.string(),
  /** The parameter that names the item of `for_each`, and what the item is called. */
  parent: z.exactOptional(z.object({ parameter: z.string(), subject: z.string() })),
  filters: z.record(z.string(), z.unknown()),
  /** The times between which entries are still to be read, and what was stored so far. */
  progress: z.exactOptional(
    z.object({ from: z.number(), to: z.number(), added: z.number(), changed: z.number() }),
  ),
});
type State = z.output<typeof State>;
type Progress = NonNullable<State['progress']>;
type Step = Acting<Options, State>;

/** How many entries one step reads: five requests. What a step has stored is not read again after a failure. */
const ENTRIES_PER_STEP = 500;

export const archive = defineJob({
  name: 'archive',
  summary: 'Writes new entries of a list into files.',
  options: Options,
  check: ({ keep, overlap }, { source: { from }, filters }): OptionFault[] => {
    const time = isList(from) ? timeFieldOf(from) : undefined;
    if (time === undefined) {
      const message = `${from} cannot be archived: it cannot be read by the time of its entries.`;
      return [{ path: [], at: 'key', message }];
    }
    if (filters.includes(time)) {
      const message = `archive itself filters ${from} by ${time}.`;
      return [
        { path: [], at: 'key', message, suggestion: `remove select.filters.${time}, and use lookback` },
      ];
    }
    if (keep === undefined || keep > overlap) return [];
    return [{ path: ['keep'], message: '"keep" must be longer than "overlap".' }];
  },
  candidates: 'any',
  takesLists: true,
  state: State,
  // It changes nothing, so that others may work on the site meanwhile.
  target: (list: Identified) => ({ id: idOf(list), label: labelOf(list), site: null }),
  prepare: async ({ source: { from, parent }, filters }): Promise<State> => ({
    list: from,
    ...(parent ? { parent: { parameter: ownParameter(parent.list) ?? '', subject: parent.subject } } : {}),
    filters,
  }),
  evaluate: (_, { prepared }) => ({ is: 'target', state: prepared }),
  requestsPerTarget: 1,
  changes: () => [],

  async act(acting): Promise<Answer<State>> {
    const { state, options } = acting;
    if (!state) throw new Error('A list was planned without a state.');
    const other = await otherRun(acting);
    if (other) return other;
    const list = state.list as CandidateList;
    const target = new ArchivedTarget(
      folderOfTarget(acting, state),
      options.period,
      formatOf(options, state),
    );
    try {
      const progress = state.progress ?? (await begin(acting, target));
      const { entries, next } = await readSome(acting, state, progress);
      const { added, changed } = await target.store(entries);
      const stored = { added: progress.added + added, changed: progress.changed + changed };
      if (next !== undefined)
        return { is: 'next', state: { ...state, progress: { ...progress, ...stored, from: next } } };
      const removed = options.keep === undefined ? 0 : await target.removeBefore(acting.now - options.keep);
      return { is: 'done', reason: 'done', detail: detailOf({ ...stored, removed }) };
    } catch (error) {
      if (error instanceof ArchiveError)
        return { is: 'failed', reason: 'archive-failed', detail: error.message };
      const { rejected } = problemWith(error);
      if (!rejected) throw error;
      return {
        is: 'skipped',
        reason: 'not-eligible',
        detail: `${list} could not be read: ${rejected.message}`,
      };
    }
  },

  async reconcile() {
    return { is: 'absent' };
  },
});

/** Two runs never write the same files at the same time. */
async function otherRun({ once, options, runContext, target }: Step): Promise<Answer<never> | undefined> {
  const key = ['archive', options.archive_dir, runContext.policy, target.id].join('\n');
  const holder = await once.claim(key);
  if (holder.isOurs) return undefined;
  const next = holder.endedAt === undefined ? holder : await once.claim(key, holder);
  if (next.isOurs) return undefined;
  return { is: 'waiting', reason: 'conflict', detail: `The run ${next.run} is writing these files.` };
}

const folderOfTarget = ({ options, runContext, target }: Step, { list, parent }: State) => ({
  dir: options.archive_dir,
  names: [runContext.policy, folderOf(list as CandidateList), ...(parent ? [target.id] : [])],
});

function formatOf({ format }: Options, { list, parent }: State): Format {
  if (format === 'jsonl') return jsonLinesOf(list as CandidateList);
  return csvOf(list as CandidateList, parent ? [`${parent.subject}_id`, parent.subject] : []);
}

/** The times between which a run reads entries, by the service's clock. Both are whole seconds. */
async function begin({ options, serviceTime, now }: Step, target: ArchivedTarget): Promise<Progress> {
  const { earliest, latest } = await serviceTime(now);
  const newest = await target.newest();
  const from =
    newest === undefined ? earliest - options.lookback : Math.min(newest, latest) - options.overlap;
  const kept = options.keep === undefined ? from : Math.max(from, earliest - options.keep);
  return { from: second(kept), to: second(latest) + 1_000, added: 0, changed: 0 };
}

const second = (ms: number): number => Math.floor(ms / 1_000) * 1_000;

/**
 * Reads entries from the oldest on. `next`: from which time the next step reads, when there are more. Entries of
 * the same second are read in one step, so that each step gets ahead. Costs one request per 100 entries.
 */
async function readSome(
  { all, target, options }: Step,
  state: State,
  { from, to }: Progress,
): Promise<{ entries: Entry[]; next?: number }> {
  const list = state.list as CandidateList;
  const time = timeFieldOf(list) ?? '';
  const { parent } = state;
  const within = { gte: new Date(from).toISOString(), lte: new Date(to).toISOString() };
  const query = {
    ...(parent ? { [parent.parameter]: target.id } : {}),
    sort: `${time},asc`,
    filters: { ...state.filters, [time]: within },
  };
  const owner = parent ? { [`${parent.subject}_id`]: target.id, [parent.subject]: target.label } : {};
  const format = formatOf(options, state);
  const entries: Entry[] = [];
  let isOrdered = true;
  for await (const item of all(list as ListId, query as never) as AsyncGenerator<Item<ListId>>) {
    const entry = format.entryOf(item, owner);
    const last = entries.at(-1);
    // A service that orders them otherwise is read to the end, whatever the number of entries.
    if (last && !(entry.at >= last.at)) isOrdered = false;
    if (isOrdered && last && entries.length >= ENTRIES_PER_STEP && second(entry.at) > second(last.at)) {
      if (second(last.at) > from) return { entries, next: second(last.at) };
    }
    entries.push(entry);
  }
  return { entries };
}

function detailOf({ added, changed, removed }: { added: number; changed: number; removed: number }): string {
  const parts = [
    added === 0 ? 'No new entries' : `${added} new ${added === 1 ? 'entry' : 'entries'}`,
    ...(changed === 0 ? [] : [`${changed} changed`]),
    ...(removed === 0 ? [] : [`${removed} old ${removed === 1 ? 'file' : 'files'} removed`]),
  ];
  return `${parts.join(', ')}.`;
}
