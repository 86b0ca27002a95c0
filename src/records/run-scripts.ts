/**
 * The scripts that create and move runs. Each writes the run, its indexes, its event and its place in the
 * ledger, or nothing.
 */

import { defineScript } from '../redis/script.ts';
import { COUNT_REQUESTS } from '../redis/store.ts';
import { REJECT } from './batch-store.ts';
import { ADD_TO_TOTALS } from './end-store.ts';
import { ADD_NOTICE } from './notice-store.ts';

/** What the scripts need of the policy while a run is active. */
export interface RunLimits {
  concurrency: number;
  targetMs: number;
  /** The proportion of the run's targets in flight to those of other runs of the account. Default 1. */
  weight?: number;
  /** How many of its targets with the same client, or with the same tag, are in flight at most. */
  perClient?: number | undefined;
  perTag?: number | undefined;
  /** What is written to the sites (`record:`), and the reasons of targets without a change to write about. */
  record?: { work: boolean; note: boolean; not: readonly string[] };
}

/** The replies of `createRun`, by number. */
export const creations = ['exists', 'created', 'decided', 'overlap', 'moved'] as const;

/**
 * `active`: 1 for a run that has not ended; `overlap`: which other runs of the policy keep it from being
 * created (any, waiting or ''); `scheduled_at`: the scheduled time it is for, or ''; `record`: the ledger's record
 * of that time; `backfill`: 1 for a backfill; `field_count`: how many of the values are the run's fields; the
 * rest are the targets that alone were asked for. `address`: the service that the run is for, or '' when this process
 * does not know it.
 *
 * The first run of an account binds its records to the address. After that, a run for another address is not created.
 *
 * As with a move, a command that was sent again is recognized by the name of the move. A scheduled time that has
 * its record makes no run, unless it is a backfill: then the record notes that.
 */
export const createRun = defineScript(
  {
    keys: [
      'run',
      'runs',
      'runs_of_policy',
      'runs_in_status',
      'active_runs',
      'active_accounts',
      'events',
      'ledger',
      'ledgers',
      'only',
      'reasons',
      'totals',
      'notices',
      'addresses',
    ],
    args: [
      'id',
      'created_at',
      'active',
      'account',
      'address',
      'move',
      'event',
      'policy',
      'overlap',
      'run_prefix',
      'scheduled_at',
      'record',
      'backfill',
      'notice',
      'field_count',
    ],
    argList: 'values',
  },
  `${ADD_TO_TOTALS}${ADD_NOTICE}
local made = redis.call('HGET', keys.run, 'lastMove')
if made == args.move then return 1 end
local bound = redis.call('HGET', keys.addresses, args.account)
if bound and args.address ~= '' and bound ~= args.address then return 4 end
if made then return 0 end
local known = args.scheduled_at ~= ''
  and redis.call('ZRANGEBYSCORE', keys.ledger, args.scheduled_at, args.scheduled_at)[1]
if known and args.backfill == '0' then return 2 end
if args.overlap ~= '' then
  local started, queued = 0, 0
  for _, id in ipairs(redis.call('ZINTER', 2, keys.runs_of_policy, keys.active_runs)) do
    local status = redis.call('HGET', args.run_prefix .. id, 'status')
    if status == 'queued' then queued = queued + 1 else started = started + 1 end
  end
  local waiting = started > 0 and queued or queued - 1
  if args.overlap == 'any' and started + queued > 0 then return 3 end
  if args.overlap == 'waiting' and waiting > 0 then return 3 end
end
local field_count = tonumber(args.field_count)
redis.call('HSET', keys.run, 'lastMove', args.move, unpack(values, 1, field_count))
if bound then redis.call('HSET', keys.run, 'address', bound)
elseif args.address ~= '' then redis.call('HSET', keys.addresses, args.account, args.address) end
for first = field_count + 1, #values, 1000 do
  redis.call('RPUSH', keys.only, unpack(values, first, math.min(first + 999, #values)))
end
redis.call('ZADD', keys.runs, args.created_at, args.id)
redis.call('ZADD', keys.runs_of_policy, args.created_at, args.id)
redis.call('ZADD', keys.runs_in_status, args.created_at, args.id)
if args.active == '1' then
  redis.call('SADD', keys.active_runs, args.id)
  redis.call('SADD', keys.active_accounts, args.account)
else add_to_totals(keys.run, keys.reasons, keys.totals, args.id) end
add_notice(keys.notices, args.notice)
if args.scheduled_at ~= '' then
  local record = args.record
  if known then
    local noted = cjson.decode(known)
    noted['backfill'] = args.id
    record = cjson.encode(noted)
    redis.call('ZREM', keys.ledger, known)
  end
  redis.call('ZADD', keys.ledger, args.scheduled_at, record)
  redis.call('SADD', keys.ledgers, args.policy)
end
redis.call('PUBLISH', keys.events, args.event)
return 1`,
);

/**
 * `move`: a name by which a move that was already made is recognized when its command is sent again; `from`: the
 * statuses that the run may come from, separated by commas; `final`: 1 when `to` is a final status; `ended_at`:
 * when the run ends, for the policies after it, or '' when it does not end or was skipped;
 * `plan_fence`: only while this attempt at planning is the latest, or ''; `step`: only while `rollout` and `approvals`
 * are as they were read, and the run is neither held nor ending, or ''; `rejects`: ids of targets that are rejected with
 * it, as JSON, or ''.
 *
 * The caller may have read the run before its plan was complete. Once it is complete, the run is not planned
 * again, and does not end before each of its targets has ended: targets in flight would never get their outcome.
 */
export const moveRun = defineScript(
  {
    keys: [
      'run',
      'active_runs',
      'events',
      'runs',
      'reasons',
      'totals',
      'ends',
      'progress',
      'listed',
      'notices',
      'later',
      'rejected',
    ],
    args: [
      'id',
      'to',
      'final',
      'from',
      'event',
      'status_prefix',
      'move',
      'plan_fence',
      'ended_at',
      'step',
      'notice',
      'rejects',
      'why',
    ],
    argList: 'fields',
  },
  `${ADD_TO_TOTALS}${ADD_NOTICE}${REJECT}
local from, last, plan_fence, complete, step, held, ending =
  unpack(redis.call('HMGET', keys.run, 'status', 'lastMove', 'planFence', 'planComplete', 'step', 'held', 'ending'))
if last == args.move then return 1 end
if complete and args.to == 'planning' then return 0 end
if complete and args.final == '1' then
  local open = tonumber(redis.call('HGET', keys.run, 'planned')) or 0
  for _, count in ipairs(redis.call('HMGET', keys.run, 'succeeded', 'failed', 'skipped', 'cancelled')) do
    open = open - (tonumber(count) or 0)
  end
  if open > 0 then return 0 end
end
if args.plan_fence ~= '' and args.plan_fence ~= plan_fence then return 0 end
if args.step ~= '' and (args.step ~= (step or '0') or held or ending) then return 0 end
local allowed = false
for source in string.gmatch(args.from, '[^,]+') do if source == from then allowed = true end end
if not from or not allowed then return 0 end
redis.call('HSET', keys.run, 'status', args.to, 'lastMove', args.move, unpack(fields))
if args.step ~= '' then redis.call('HINCRBY', keys.run, 'step', 1) end
reject(args.rejects, args.why)
local created = redis.call('ZSCORE', keys.runs, args.id)
redis.call('ZREM', args.status_prefix .. from, args.id)
redis.call('ZADD', args.status_prefix .. args.to, created or 0, args.id)
if args.final == '1' or args.to == 'running' then redis.call('UNLINK', keys.progress, keys.listed) end
if args.final == '1' then
  redis.call('SREM', keys.active_runs, args.id)
  add_to_totals(keys.run, keys.reasons, keys.totals, args.id)
end
if args.ended_at ~= '' then
  local last = redis.call('ZRANGE', keys.ends, 0, 0, 'REV', 'WITHSCORES')[2]
  local at = math.max(tonumber(args.ended_at), (tonumber(last) or 0) + 1)
  redis.call('ZADD', keys.ends, string.format('%.0f', at), args.id)
end
add_notice(keys.notices, args.notice)
redis.call('PUBLISH', keys.events, args.event)
return 1`,
);

/** Marks that a run ends: the first reason stays. `cancel_tasks`: 1 when its tasks are to be cancelled. */
export const setEnding = defineScript(
  { keys: ['run'], args: ['ending', 'detail', 'cancel_tasks'] },
  `
if redis.call('EXISTS', keys.run) == 0 then return 0 end
if redis.call('HSETNX', keys.run, 'ending', args.ending) == 1 then
  redis.call('HSET', keys.run, 'detail', args.detail)
end
if args.cancel_tasks == '1' then redis.call('HSET', keys.run, 'cancelTasks', 1) end
return 1`,
);

/**
 * Records why a run waits; not over the detail of a run that ends, has ended or is held. `step`: only while this is its
 * number of steps, and until its next step; or ''.
 */
export const noteDetail = defineScript(
  { keys: ['run'], args: ['detail', 'step'] },
  `
local status, ending, held, finished, step =
  unpack(redis.call('HMGET', keys.run, 'status', 'ending', 'held', 'finishedAt', 'step'))
if not status or ending or held or finished then return 0 end
if args.step ~= '' and args.step ~= (step or '0') then return 0 end
redis.call('HSET', keys.run, 'detail', args.detail)
if args.step ~= '' then redis.call('HSET', keys.run, 'detailOfStep', 1) end
return 1`,
);

/** Changes a run that exists: writing to one that was removed would leave a hash without an index. */
export const setFields = defineScript(
  { keys: ['run'], argList: 'fields' },
  `
if redis.call('EXISTS', keys.run) == 0 then return 0 end
redis.call('HSET', keys.run, unpack(fields))
return 1`,
);

/** Records the ids that names stand for; returns those that are recorded, which may be of an earlier plan. */
export const keepNames = defineScript(
  { keys: ['run'], args: ['names'] },
  `
if redis.call('EXISTS', keys.run) == 0 then return args.names end
redis.call('HSETNX', keys.run, 'names', args.names)
return redis.call('HGET', keys.run, 'names')`,
);

export const holdRun = defineScript(
  { keys: ['run', 'events'], args: ['held', 'detail', 'event'] },
  `
if not redis.call('HGET', keys.run, 'status') then return 0 end
if redis.call('HSETNX', keys.run, 'held', args.held) == 0 then return 0 end
redis.call('HSET', keys.run, 'detail', args.detail)
redis.call('PUBLISH', keys.events, args.event)
return 1`,
);

export const releaseRun = defineScript(
  { keys: ['run', 'events'], args: ['event'] },
  `
if redis.call('HDEL', keys.run, 'held') == 0 then return 0 end
redis.call('HDEL', keys.run, 'detail')
redis.call('PUBLISH', keys.events, args.event)
return 1`,
);

/** Forgets an account without active runs. */
export const retireAccount = defineScript(
  { keys: ['active_runs', 'active_accounts'], args: ['account'] },
  `if redis.call('SCARD', keys.active_runs) == 0 then redis.call('SREM', keys.active_accounts, args.account) end`,
);

/** `spent`: requests by operation, JSON. */
export const countRequests = defineScript(
  { keys: ['run'], args: ['spent'] },
  `${COUNT_REQUESTS}
if redis.call('EXISTS', keys.run) == 1 then count_requests(keys.run, args.spent) end`,
);
