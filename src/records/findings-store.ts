/**
 * The findings of a policy from run to run: one hash a policy and account. The key of a finding is its target and
 * what it is about, so that a message that changes ("3 days ago") is still the same finding.
 *
 * A run is compared when it ends. What is new is noted page by page, then what is resolved is removed. Each script
 * writes the findings together with the counts of the run, and recognizes what it has done already: a process
 * that compares a run again, after another died in between, changes nothing twice and leaves nothing out.
 *
 * The same scripts keep the indexes by which findings are listed (`finding-indexes.ts`).
 */
import { isoTime } from '../clock.ts';
import { defineScript } from '../redis/script.ts';
import { type Store, toJson } from '../redis/store.ts';
import { Finding } from '../run/run.ts';
import {
  FINDINGS_KEPT_MS,
  fieldOf,
  INDEX_FINDINGS,
  indexKeyNames,
  indexKeysOf,
  KnownFinding,
  policyMember,
} from './finding-indexes.ts';
import { keys } from './keys.ts';
import { parseRecord } from './parse-record.ts';

/** A finding of a target that has just ended. */
export type SeenFinding = Omit<KnownFinding, 'since' | 'first' | 'last' | 'seenAt'>;

/** The run that is compared. */
export interface ComparedRun {
  id: string;
  account: string;
  policy: string;
  /** When it began to plan. */
  startedAt: number;
  /** It is over everything that the policy selects, and went to its end. */
  isWhole: boolean;
}

/** Findings that are read at once. */
const PAGE = 500;
/** New and resolved findings that the record of a run names. */
const MAX_NAMED = 10;
const MAX_MESSAGE_LENGTH = 300;

/**
 * For the head of a script. `is_outdated()`: the run is gone, or a whole run that began later has been compared.
 * `count(change, name, finding)` counts a change in the record of the run, and names the first ones.
 */
const COMPARE = `${INDEX_FINDINGS}
local function is_outdated()
  if redis.call('EXISTS', keys.run) == 0 then return true end
  local compared = tonumber(redis.call('GET', keys.compared_at)) or 0
  if tonumber(args.started_at) < compared then return true end
  if args.is_whole == '1' then redis.call('SET', keys.compared_at, args.started_at, 'PX', args.ttl) end
  return false
end
local function changes_of_run()
  return cjson.decode(redis.call('HGET', keys.run, 'findings') or '{"open":0,"new":0,"resolved":0}')
end
local function count(changes, change, list, finding)
  changes[change] = changes[change] + 1
  changes[list] = changes[list] or {}
  if #changes[list] >= ${MAX_NAMED} then return end
  table.insert(changes[list], {
    target = finding.target, label = finding.label, about = finding.about,
    severity = finding.severity, message = finding.message, since = finding.since,
  })
end`;

const names = {
  keys: ['run', 'compared_at', ...indexKeyNames],
  args: ['id', 'started_at', 'is_whole', 'ttl', 'page', 'day', 'of'],
} as const;

/** `seen`: the field and the finding as JSON, in turns. `page` counts up from 1. */
const noteFindings = defineScript(
  { ...names, argList: 'seen' },
  `${COMPARE}
if is_outdated() then return 0 end
if #seen == 0 then return 1 end
local page = tonumber(args.page)
if (tonumber(redis.call('HGET', keys.run, 'findingsPage')) or 0) >= page then return 1 end
redis.call('HSET', keys.run, 'findingsPage', page)
local changes = changes_of_run()
for i = 1, #seen, 2 do
  local known = redis.call('HGET', keys.findings, seen[i])
  local finding = cjson.decode(seen[i + 1])
  local started_at = tonumber(args.started_at)
  finding.first, finding.since, finding.seenAt = args.id, started_at, started_at
  if known then
    known = cjson.decode(known)
    finding.first, finding.since = known.first, known.since
    finding.seenAt = math.max(started_at, known.seenAt)
  end
  finding.last = args.id
  if known then remove_from_indexes(seen[i], known) end
  redis.call('HSET', keys.findings, seen[i], cjson.encode(finding))
  add_to_indexes(seen[i], finding)
  changes.open = changes.open + 1
  if not known then count(changes, 'new', 'firstNew', finding) end
end
redis.call('HSET', keys.run, 'findings', cjson.encode(changes))
note_day()
return 1`,
);

/** `fields`: findings that the run did not see although it looked. One that a later run saw stays. */
const resolveFindings = defineScript(
  { ...names, argList: 'fields' },
  `${COMPARE}
if is_outdated() then return 0 end
local changes = changes_of_run()
for _, field in ipairs(fields) do
  local known = redis.call('HGET', keys.findings, field)
  known = known and cjson.decode(known)
  if known and known.last ~= args.id and known.seenAt <= tonumber(args.started_at) then
    redis.call('HDEL', keys.findings, field)
    remove_from_indexes(field, known)
    note_resolved(known)
    count(changes, 'resolved', 'firstResolved', known)
    if known.told then
      local told = cjson.encode(known.told)
      changes.resolvedOf = changes.resolvedOf or {}
      changes.resolvedOf[told] = (changes.resolvedOf[told] or 0) + 1
    end
  end
end
redis.call('HSET', keys.run, 'findings', cjson.encode(changes))
note_day()
return 1`,
);

const gravity = Finding.shape.severity.options;
const isMoreSevere = (one: SeenFinding, other: SeenFinding): boolean =>
  gravity.indexOf(one.severity) < gravity.indexOf(other.severity);

export class FindingsStore {
  constructor(private readonly store: Store) {}

  /**
   * Notes what a run found on one page of its targets. Pages are counted from 1, and each is noted once. Of
   * findings of a target about the same thing, the most severe counts. A page without findings only makes known that
   * the run was compared.
   */
  async note(run: ComparedRun, page: number, seen: readonly SeenFinding[]): Promise<void> {
    const byField = new Map<string, SeenFinding>();
    for (const one of seen) {
      const other = byField.get(fieldOf(one));
      if (!other || isMoreSevere(one, other)) byField.set(fieldOf(one), one);
    }
    await noteFindings(this.store, {
      ...callFor(run, page),
      argList: [...byField].flatMap(([field, one]) => [
        field,
        toJson({ ...one, message: one.message.slice(0, MAX_MESSAGE_LENGTH) }),
      ]),
    });
  }

  /** Removes findings that a run did not see although it looked at their targets, and notes them with the run. */
  async resolve(
    run: ComparedRun,
    findings: readonly Pick<KnownFinding, 'target' | 'about'>[],
  ): Promise<void> {
    if (findings.length === 0) return;
    await resolveFindings(this.store, { ...callFor(run, 0), argList: findings.map(fieldOf) });
  }

  /** The known findings of a policy, a page at a time. One may come twice while others are changed. */
  async *pages(account: string, policy: string): AsyncGenerator<KnownFinding[]> {
    const key = keys.findings(account, policy);
    let cursor = '0';
    do {
      const [next, flat] = await this.store.hscan(key, cursor, 'COUNT', PAGE);
      yield flat.flatMap((json, at) => (at % 2 === 1 ? [parseRecord(KnownFinding, json, key)] : []));
      cursor = next;
    } while (cursor !== '0');
  }
}

const callFor = ({ id, account, policy, startedAt, isWhole }: ComparedRun, page: number) => ({
  keys: {
    run: keys.run(id),
    compared_at: keys.findingsAt(account, policy),
    ...indexKeysOf(account, policy),
  },
  args: {
    ...{ id, started_at: startedAt, is_whole: isWhole ? 1 : 0, ttl: FINDINGS_KEPT_MS, page },
    ...{ day: isoTime(startedAt).slice(0, 10), of: policyMember(account, policy) },
  },
});
