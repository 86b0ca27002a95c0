/**
 * The scripts of the outbox: what is still to be written to the sites. A site that has something to be written
 * is in a sorted set by the time when it is due, with a hash of its own: `claim`, the id of the latest claim;
 * `waits` and `detail`, how often it was tried again and why; `run:<id>` for each run, a number that grows
 * with each of its targets that ends; and the intents.
 *
 * What a run writes to a site, and whether it is written, is in a hash of the run, by site.
 */
import { defineScript } from '../redis/script.ts';

/** How long after the end of a target its site is due. Other targets and runs of the site can join in. */
export const OUTBOX_DELAY_MS = 60_000;

/** The field of a run's hash that counts its records in each state. `pending` ones are not counted. */
const COUNTS = `
local record_counts = { recorded = 'recordsDone', failed = 'recordsFailed', left = 'recordsLeft' }
`;

/**
 * For the head of the script that ends targets: `add_to_outbox`, which takes the fields `recordWork`, `recordNote` and
 * `recordNot` of the run. Needs the keys `run`, `records`, `outbox`, `outbox_since` and `outbox_accounts`, and the
 * arguments `run`, `now`, `account` and `outbox_prefix`.
 */
export const ADD_TO_OUTBOX = `${COUNTS}
local function add_to_outbox(target, work, note, not_done)
  local site, failed = target.recordSite, target.outcome == 'failed'
  if not site or not (work or note) then return end
  local done = target.outcome == 'succeeded' and target.changed
    and not string.find(not_done or '', ',' .. target.reason .. ',', 1, true)
  if not (done or failed and note) then return end
  local now, json = tonumber(args.now), redis.call('HGET', keys.records, site)
  local record = json and cjson.decode(json) or { done = 0, failed = 0 }
  record.since = now
  if done then
    record.done = record.done + 1
    record.at = record.at or now
  else
    record.failed = record.failed + 1
    record.reason = target.reason
  end
  if work and done and not record.work then
    record.work = 'pending'
    redis.call('HINCRBY', keys.run, 'recordsWanted', 1)
  end
  if note then
    if not record.note then redis.call('HINCRBY', keys.run, 'recordsWanted', 1)
    elseif record_counts[record.note] then redis.call('HINCRBY', keys.run, record_counts[record.note], -1) end
    record.note, record.noteWhy = 'pending', nil
  end
  redis.call('HSET', keys.records, site, cjson.encode(record))
  if record.work ~= 'pending' and record.note ~= 'pending' then return end
  redis.call('HINCRBY', args.outbox_prefix .. site, 'run:' .. args.run, 1)
  redis.call('ZADD', keys.outbox, 'NX', now + ${OUTBOX_DELAY_MS}, site)
  redis.call('ZADD', keys.outbox_since, 'NX', now, site)
  redis.call('SADD', keys.outbox_accounts, args.account)
end`;

/**
 * Claims the first site that is due, until `due_at`: then it is due again. Returns the site and its hash as
 * field, value, field, value, ...; or nothing, also when the account's records belong to another address.
 */
export const claimSite = defineScript(
  { keys: ['outbox', 'addresses'], args: ['account', 'address', 'now', 'due_at', 'outbox_prefix', 'claim'] },
  `
local bound = redis.call('HGET', keys.addresses, args.account)
if bound and args.address ~= '' and bound ~= args.address then return false end
local site = redis.call('ZRANGEBYSCORE', keys.outbox, '-inf', args.now, 'LIMIT', 0, 1)[1]
if not site then return false end
redis.call('ZADD', keys.outbox, 'XX', args.due_at, site)
redis.call('HSET', args.outbox_prefix .. site, 'claim', args.claim)
return {site, redis.call('HGETALL', args.outbox_prefix .. site)}`,
);

/**
 * Records an intent under its name. Returns the raised generation number; 0 when the site was claimed again,
 * Redis was restored to an older state, or the records have another version than the process.
 */
export const noteSiteIntent = defineScript(
  {
    keys: ['site', 'generation', 'schema'],
    args: ['claim', 'name', 'intent', 'generation_id', 'generation', 'records_version'],
  },
  `
if redis.call('HGET', keys.site, 'claim') ~= args.claim then return 0 end
local id, number = unpack(redis.call('HMGET', keys.generation, 'id', 'number'))
if id and id == args.generation_id and tonumber(number or 0) < tonumber(args.generation) then return 0 end
local version = redis.call('HGET', keys.schema, 'version')
if version and version ~= args.records_version then return 0 end
redis.call('HSET', keys.site, 'intent:' .. args.name, args.intent)
return redis.call('HINCRBY', keys.generation, 'number', 1)`,
);

/**
 * Sets the state of one record of a run, unless more targets of the run have ended since it was read (`done`
 * and `failed`) and it is a note, which has to be written again then. `drop`: the intent that has its result.
 * The first ten that were not recorded are named in the run.
 */
export const setRecordState = defineScript(
  {
    keys: ['run', 'records', 'site_hash'],
    args: ['site', 'kind', 'state', 'why', 'done', 'failed', 'claim', 'drop'],
  },
  `${COUNTS}
if redis.call('HGET', keys.site_hash, 'claim') ~= args.claim then return 0 end
if args.drop ~= '' then redis.call('HDEL', keys.site_hash, 'intent:' .. args.drop) end
local json = redis.call('HGET', keys.records, args.site)
if not json then return 1 end
local record, why_field = cjson.decode(json), args.kind .. 'Why'
if record[args.kind] ~= 'pending' then return 1 end
if args.kind == 'note' and (record.done ~= tonumber(args.done) or record.failed ~= tonumber(args.failed)) then
  return 1
end
record[args.kind] = args.state
if args.why ~= '' then record[why_field] = args.why end
redis.call('HSET', keys.records, args.site, cjson.encode(record))
redis.call('HINCRBY', keys.run, record_counts[args.state], 1)
if args.state ~= 'recorded' then
  local first = cjson.decode(redis.call('HGET', keys.run, 'recordsFirst') or '[]')
  if #first < 10 then
    table.insert(first, { site = args.site, kind = args.kind, state = args.state, why = args.why })
    redis.call('HSET', keys.run, 'recordsFirst', cjson.encode(first))
  end
end
return 1`,
);

export const countRecordRequests = defineScript(
  { keys: ['run'], args: ['requests'] },
  `
if redis.call('EXISTS', keys.run) == 0 then return 0 end
return redis.call('HINCRBY', keys.run, 'recordsRequests', args.requests)`,
);

/**
 * Ends the claim on a site. `settled`: run and number in turn. A run for which no more targets have ended is
 * removed. With runs left, the site is due again at `due`; otherwise it leaves the outbox.
 */
export const leaveSite = defineScript(
  {
    keys: ['outbox', 'outbox_since', 'outbox_accounts', 'site'],
    args: ['site', 'claim', 'due', 'waits', 'detail', 'account'],
    argList: 'settled',
  },
  `
if redis.call('HGET', keys.site, 'claim') ~= args.claim then return 0 end
for i = 1, #settled, 2 do
  local field = 'run:' .. settled[i]
  if redis.call('HGET', keys.site, field) == settled[i + 1] then redis.call('HDEL', keys.site, field) end
end
for _, field in ipairs(redis.call('HKEYS', keys.site)) do
  if string.sub(field, 1, 4) == 'run:' then
    redis.call('HSET', keys.site, 'waits', args.waits, 'detail', args.detail)
    redis.call('ZADD', keys.outbox, 'XX', args.due, args.site)
    return 1
  end
end
redis.call('DEL', keys.site)
redis.call('ZREM', keys.outbox, args.site)
redis.call('ZREM', keys.outbox_since, args.site)
if redis.call('ZCARD', keys.outbox) == 0 then redis.call('SREM', keys.outbox_accounts, args.account) end
return 1`,
);

/** Ends the claims on these sites, and makes none of them due before `due_at`. */
export const postponeSites = defineScript(
  { keys: ['outbox'], args: ['due_at', 'outbox_prefix'], argList: 'sites' },
  `
for _, site in ipairs(sites) do
  redis.call('HDEL', args.outbox_prefix .. site, 'claim')
  local due = tonumber(redis.call('ZSCORE', keys.outbox, site))
  if due and due < tonumber(args.due_at) then redis.call('ZADD', keys.outbox, args.due_at, site) end
end
return 1`,
);

/** Makes these sites due `ahead` ms earlier, as far as they are due after `now`. */
export const takeBackSites = defineScript(
  { keys: ['outbox'], args: ['now', 'ahead'], argList: 'sites' },
  `
for _, site in ipairs(sites) do
  local due = tonumber(redis.call('ZSCORE', keys.outbox, site))
  if due and due > tonumber(args.now) then redis.call('ZADD', keys.outbox, due - tonumber(args.ahead), site) end
end
return 1`,
);
