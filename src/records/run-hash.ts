/** Converts a run to the fields of its hash in Redis, and back. */
import { z } from 'zod';
import { OPERATION } from '../redis/store.ts';
import { type RecordingCounts, Unrecorded } from '../run/recordings.ts';
import { Counts, LookedUp, Run, type Spent } from '../run/run.ts';
import { keys } from './keys.ts';
import { checkRecord, parseJson, parseRecord } from './parse-record.ts';

const countNames = Object.keys(Counts.shape) as (keyof Counts)[];

type Field = keyof Run;
const times: readonly Field[] = ['scheduledFor', 'createdAt', 'startedAt', 'finishedAt', 'deadline', 'dueBy'];
const numberFields = new Set<string>([...times, 'windowEndsAt', 'requests', 'step'] satisfies Field[]);
const flags = new Set<string>([
  'planComplete',
  'cancelTasks',
  'ignoresFreezes',
  'keepsFacts',
] satisfies Field[]);
const objects: readonly Field[] = ['late', 'held', 'findings', 'names', 'startedBy', 'decidedAt'];
const jsonFields = new Set<string>([...objects, 'rollout', 'approvals', 'remarks'] satisfies Field[]);

/** The fields of a run's hash. Every number that scripts change has its own field. */
export function flat(run: Run): Record<string, string | number> {
  const { counts, requestsByOperation = {}, plan, spread: _written, recordings: _counted, ...rest } = run;
  const fields: Record<string, string | number> = { ...counts };
  for (const [name, value] of Object.entries(rest)) {
    if (value === undefined) continue;
    if (value === true) fields[name] = 1;
    else fields[name] = typeof value === 'object' ? JSON.stringify(value) : value;
  }
  if (plan) Object.assign(fields, { planRequests: plan.requests, planTargets: plan.targets });
  for (const [operation, count] of Object.entries(requestsByOperation))
    fields[`${OPERATION}${operation}`] = count;
  return fields;
}

/**
 * The run in a hash; undefined when there is none.
 *
 * @throws {InvalidRecordError}
 */
export function fromHash(hash: Record<string, string>): Run | undefined {
  if (!hash['id']) return undefined;
  const key = keys.run(hash['id']);
  const { planRequests, planTargets = 0, spreadFrom, spreadMs, spreadOf } = hash;
  const fields = Object.entries(hash).map(([name, text]) => [name, fieldIn(name, text, key)]);
  return checkRecord(
    Run,
    {
      ...Object.fromEntries(fields),
      ...spentOf(hash),
      ...recordingsOf(hash),
      counts: numbers(hash, ...countNames),
      ...(planRequests && { plan: { requests: Number(planRequests), targets: Number(planTargets) } }),
      ...(spreadMs && {
        spread: { from: Number(spreadFrom), ms: Number(spreadMs), targets: Number(spreadOf) },
      }),
    },
    key,
  );
}

function fieldIn(name: string, text: string, key: string): unknown {
  if (numberFields.has(name)) return Number(text);
  if (flags.has(name)) return true;
  return jsonFields.has(name) ? parseJson(text, key) : text;
}

function recordingsOf(hash: Record<string, string>): { recordings?: RecordingCounts } {
  const { id = '', recordsWanted: wanted, recordsFirst: first } = hash;
  if (wanted === undefined) return {};
  const count = (name: string) => Number(hash[name] ?? 0);
  return {
    recordings: {
      wanted: Number(wanted),
      recorded: count('recordsDone'),
      failed: count('recordsFailed'),
      left: count('recordsLeft'),
      requests: count('recordsRequests'),
      ...(first === undefined ? {} : { first: parseRecord(z.array(Unrecorded), first, keys.run(id)) }),
    },
  };
}

/** @throws {InvalidRecordError} */
export const readNames = (json: string, key: string): LookedUp[] => parseRecord(z.array(LookedUp), json, key);

function spentOf(hash: Record<string, string>): { requestsByOperation?: Spent } {
  const spent = Object.entries(hash)
    .filter(([field]) => field.startsWith(OPERATION))
    .map(([field, count]) => [field.slice(OPERATION.length), Number(count)] as const)
    .sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
  return spent.length === 0 ? {} : { requestsByOperation: Object.fromEntries(spent) };
}

function numbers<N extends string>(hash: Record<string, string>, ...names: N[]): { [K in N]?: number } {
  const found: { [K in N]?: number } = {};
  for (const name of names) if (hash[name] !== undefined) found[name] = Number(hash[name]);
  return found;
}
