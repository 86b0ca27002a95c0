/**
 * Version 5: findings have indexes by time and by site (`finding-indexes.ts`).
 *
 * Findings of older records are added to them. A finding that a run resolves meanwhile is not: its field is looked up
 * again when it is added.
 */
import { runScript } from '../../redis/script.ts';
import type { Store } from '../../redis/store.ts';
import { keysLike } from './keys-like.ts';
import type { Migration } from './migration.ts';

const PREFIX = '{caretaker}';
const FINDINGS = `${PREFIX}:findings:`;
const PAGE = 200;
const TTL_MS = 400 * 86_400_000;

/** KEYS: findings, their indexes by site and severity, the policies. ARGV: time to live, the policy, then fields. */
const ADD = `
local latest = 0
local by_severity = {error = KEYS[3], warning = KEYS[4], info = KEYS[5]}
for i = 3, #ARGV do
  local json = redis.call('HGET', KEYS[1], ARGV[i])
  if json then
    local finding = cjson.decode(json)
    redis.call('ZADD', by_severity[finding.severity], finding.since, ARGV[i])
    redis.call('ZADD', KEYS[2], 0, (finding.site or finding.target) .. '\\n' .. ARGV[i])
    latest = math.max(latest, finding.seenAt)
  end
end
if latest > 0 then redis.call('ZADD', KEYS[6], 'GT', latest, ARGV[2]) end
for i = 2, 6 do redis.call('PEXPIRE', KEYS[i], ARGV[1]) end`;

export const findingIndexes: Migration = {
  summary: 'findings can be listed by time and by site',
  async run({ store }) {
    for await (const key of keysLike(store, `${FINDINGS}*`)) await indexFindings(store, key);
  },
};

async function indexFindings(store: Store, key: string): Promise<void> {
  // The name of a policy has no colon.
  const colon = key.lastIndexOf(':');
  const [account, policy] = [key.slice(FINDINGS.length, colon), key.slice(colon + 1)];
  const since = ['error', 'warning', 'info'].map(
    (severity) => `${PREFIX}:findings-since:${account}:${policy}:${severity}`,
  );
  const indexes = [`${PREFIX}:findings-of-sites:${account}:${policy}`, ...since];
  let cursor = '0';
  do {
    const [next, page] = await store.hscan(key, cursor, 'COUNT', PAGE);
    const fields = page.filter((_, at) => at % 2 === 0);
    const all = [key, ...indexes, `${PREFIX}:finding-policies`];
    if (fields.length > 0) await runScript(store, ADD, all, [TTL_MS, `${account}\n${policy}`, ...fields]);
    cursor = next;
  } while (cursor !== '0');
}
