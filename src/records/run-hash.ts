/** Converts a run to the fields of its hash in Redis, and back. */

import { z } from 'zod';
import { OPERATION } from '../redis/store.ts';
import { type RecordingCounts, Unrecorded } from '../run/recordings.ts';
import { Remark } from '../run/remarks.ts';
import { Approval, Rollout } from '../run/rollout.ts';
import { type Counts, FindingChanges, Held, Late, LookedUp, Run, type Spent } from '../run/run.ts';
import { keys } from './keys.ts';
import { checkRecord, parseRecord } from './parse-record.ts';

const countNames = [
  'planned',
  'succeeded',
  'failed',
  'skipped',
  'cancelled',
  'found',
] as const satisfies (keyof Counts)[];

/** The fields of a run's hash. Every number that scripts change has its own field. */
export function flat({
  counts,
  planComplete,
  cancelTasks,
  ignoresFreezes,
  requestsByOperation,
  plan,
  spread: _written,
  held,
  findings,
  late,
  recordings: _counted,
  names,
  startedBy,
  decidedAt,
  keepsFacts,
  rollout,
  approvals,
  remarks,
  ...rest
}: Run): Record<string, string | number> {
  const fields: Record<string, string | number> = { ...counts };
  for (const [name, value] of Object.entries(rest)) if (value !== undefined) fields[name] = value;
  if (planComplete) fields['planComplete'] = 1;
  if (cancelTasks) fields['cancelTasks'] = 1;
  if (ignoresFreezes) fields['ignoresFreezes'] = 1;
  if (late) fields['late'] = JSON.stringify(late);
  if (held) fields['held'] = JSON.stringify(held);
  if (findings) fields['findings'] = JSON.stringify(findings);
  if (names) fields['names'] = JSON.stringify(names);
  if (startedBy) fields['startedBy'] = JSON.stringify(startedBy);
  if (keepsFacts) fields['keepsFacts'] = 1;
  if (decidedAt) fields['decidedAt'] = JSON.stringify(decidedAt);
  if (rollout) fields['rollout'] = JSON.stringify(rollout);
  if (remarks) fields['remarks'] = JSON.stringify(remarks);
  if (approvals) fields['approvals'] = JSON.stringify(approvals);
  if (plan) Object.assign(fields, { planRequests: plan.requests, planTargets: plan.targets });
  for (const [operation, count] of Object.entries(requestsByOperation ?? {}))
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
  const {
    held,
    findings,
    names,
    planRequests,
    planTargets,
    spreadFrom,
    spreadMs,
    spreadOf,
    planComplete,
    cancelTasks,
    ignoresFreezes,
    late,
    startedBy,
    decidedAt,
    keepsFacts,
    rollout,
    approvals,
    remarks,
  } = hash;
  const plan =
    planRequests === undefined
      ? undefined
      : { requests: Number(planRequests), targets: Number(planTargets ?? 0) };
  const spread =
    spreadMs === undefined
      ? undefined
      : { from: Number(spreadFrom), ms: Number(spreadMs), targets: Number(spreadOf) };
  return checkRecord(
    Run,
    {
      ...hash,
      ...numbers(
        hash,
        'scheduledFor',
        'createdAt',
        'requests',
        'startedAt',
        'finishedAt',
        'deadline',
        'dueBy',
        'windowEndsAt',
        'step',
      ),
      ...spentOf(hash),
      counts: numbers(hash, ...countNames),
      ...(plan ? { plan } : {}),
      ...(spread ? { spread } : {}),
      ...(planComplete ? { planComplete: true } : {}),
      ...(cancelTasks ? { cancelTasks: true } : {}),
      ...(ignoresFreezes ? { ignoresFreezes: true } : {}),
      ...(late === undefined ? {} : { late: parseRecord(Late, late, key) }),
      ...(held === undefined ? {} : { held: parseRecord(Held, held, key) }),
      ...recordingsOf(hash),
      ...(startedBy === undefined ? {} : { startedBy: parseRecord(Run.shape.startedBy, startedBy, key) }),
      ...(keepsFacts ? { keepsFacts: true } : {}),
      ...(decidedAt === undefined ? {} : { decidedAt: JSON.parse(decidedAt) as unknown }),
      ...(rollout === undefined ? {} : { rollout: parseRecord(Rollout, rollout, key) }),
      ...(approvals === undefined ? {} : { approvals: parseRecord(z.array(Approval), approvals, key) }),
      ...(remarks === undefined ? {} : { remarks: parseRecord(z.array(Remark), remarks, key) }),
      ...(names === undefined ? {} : { names: readNames(names, key) }),
      ...(findings === undefined ? {} : { findings: parseRecord(FindingChanges, findings, key) }),
    },
    key,
  );
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
