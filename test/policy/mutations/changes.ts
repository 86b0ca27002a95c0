// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how placeholders are written in policy files.
/** Changes of the value of a policy file: other values, other keys, keys at other places. */

export type Chance = (below: number) => number;

/** Whole numbers below `most`, always the same ones for a seed. */
export function chance(seed: number): Chance {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

export const pick = <T>(below: Chance, of: readonly T[]): T => of[below(of.length)] as T;

type Holder = Record<string, unknown> | unknown[];
interface Place {
  holder: Holder;
  key: string;
}

const isHolder = (value: unknown): value is Holder => typeof value === 'object' && value !== null;

function placesIn(value: unknown): Place[] {
  if (!isHolder(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => [{ holder: value, key }, ...placesIn(inner)]);
}

const valueAt = ({ holder, key }: Place): unknown => Reflect.get(holder, key);

/** An own property, also for the key `__proto__`. */
const set = ({ holder, key }: Place, value: unknown) =>
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });

const values: readonly unknown[] = [
  ...[null, true, false, 0, 1, -1, 5, 2.5, 100, 101, 100_000, 1e300, 1e15, 0.2, 8.1, Number.NaN],
  ...[Number.POSITIVE_INFINITY, -0, '', ' ', 'x', '0', '1', 'true', '10m', '0s', '0', '30s', '2h', '1h30m'],
  ...['90d', '2 h', '20', '1w', '99999999999h', '36501d', '10%', '0%', '100%', '101%', '0.5%', '050%'],
  ...['100.0%', '10 %', '%', '1000%', '0 2 * * *', '*/5 * * * *', '0 2 * *', '0 0 30 2 *', '0 0 31 2 *'],
  ...['5-1 * * * *', '60 * * * *', '@daily', '0 0 * * mon-fri', '0 0 L * *', '0 0 ? * ?', '0 0 * * 8'],
  ...['UTC', 'utc', 'Europe/Berlin', 'europe/berlin', 'Europe/Berln', 'Asia/Kolkata', '+02:00'],
  ...['Etc/GMT-1', '2026-12-25', '2026-02-30', '25.12.2026', '2026-12-25T02:00:00Z', '2026-12-25T02:00:00'],
  ...['2026-12-25T25:00:00Z', '2026-2-3', 'sunday'],
  { cel: 'account.name' },
  { cel: 'site.id' },
  { cel: 1 },
  { name: 'Premium' },
  { name: '' },
  ...['deleteTag', 'assignTag', 'Sunday', 'holidays', 'connected', 'conected', 'last_sync_at,asc'],
  ...['last_sync_at', 'last_sync_at,up', 'name,desc', 'created_at,desc', 'skip', 'queue', 'failed'],
  ...['succeeded', 'high', 'fixed', 'error', 'stale', 'listSites', 'listClients', 'listTags'],
  ...['listSiteNotes', 'listTasks', 'site-sync', 'check', 'api-call', 'report-dispatch', 'staging-cleanup'],
  ...['update-check', 'site-synk', 'syncSite', 'createSiteNote', 'delete', 'report', 'true'],
  ...['site.php_version < "8.1"', 'site.id', '8.1', '8', 'last_month', 'client', 'ops@example.com'],
  ...['nightly-sync', 'Upper', '${{ vars.x }}', '${{ vars.list }}', '${{ vars.map }}', '${{ vars.nope }}'],
  ...['${{ matrix.tag }}', 'a ${{ vars.x }} b', '${{ var.x }}', '$${{ vars.x }}', '${{ foo }}'],
  ...['${{vars.x'],
  [],
  {},
  [1],
  ['a'],
  [null],
  [[]],
  ['failed'],
  ['vulnerable'],
  ['0 2 * * *'],
  ['${{ vars.x }}'],
  { eq: 'connected' },
  { in: ['12'] },
  { in: [] },
  { from: '2026-12-20', to: '2026-12-24' },
  { from: '2026-12-24', to: '2026-12-20' },
  { window: '2h', mode: 'all' },
  { window: '2h' },
  { cel: 'site.id' },
  { cron: '0 2 * * *' },
  { after: { policy: 'nightly-sync' } },
  { after: { policy: 'p' }, cron: '0 2 * * *' },
  { connection_status: { eq: 'connected' } },
  { tags: { in: ['12'] } },
  { tags: { eq: '12' } },
  { present: true },
  { present: 'yes' },
  { gte: '2026-11-21' },
  { from: 'listSites' },
  { from: 'listClients' },
  { from: 'listNothing' },
  { mode: 'stale', max_age: '20h' },
  { operation: 'syncSite' },
  { to: 'ops' },
  [{ to: 'ops' }],
  { tag: ['a', 'b'] },
  { tag: [] },
  { exclude: [] },
  { include: [{ tag: 'a' }] },
  { 'a b': [1] },
];

const keys = [
  ...['name', 'job', 'with', 'select', 'from', 'filters', 'where', 'sort', 'timezone', 'limit', 'limits'],
  ...['schedule', 'cron', 'after', 'policy', 'status', 'within', 'dst', 'gap', 'overlap', 'jitter'],
  ...['spread', 'catchup', 'window', 'mode', 'blackout', 'enabled', 'pause_after_failures', 'concurrency'],
  ...['max_targets', 'max_percent', 'stop_after_failures', 'retry', 'attempts', 'backoff', 'delay'],
  ...['max_delay', 'timeout', 'target', 'run', 'notify', 'on', 'to', 'record', 'matrix', 'for_each'],
  ...['list', 'include', 'exclude', 'tag', 'account', 'priority', 'description', 'vars', 'defaults'],
  ...['policies', 'message', 'severity', 'operation', 'params', 'body', 'confirm', 'once', 'cel', 'name'],
  ...['note', 'content', 'site_id', 'site_ids', 'tag_id', 'undoable', 'undo_of', 'max_age'],
  ...['spread_daily_sync', 'template_id', 'period', 'recipients', 'action', 'older_than', 'status', 'days'],
  ...['grace', 'marker', 'eq', 'in', 'gte', 'contains', 'present', 'connection_status', 'tags'],
  ...['client_id', 'created_at', 'php_version', 'last_sync_at', 'fail_on', 'lookback', 'follow_for'],
  ...['__proto__', 'constructor', 'toString', 'polices', 'filter', 'conection_status', 'a b', '', '0', 'x'],
];

/** Changes a value in place, in one way. */
function change(root: Record<string, unknown>, below: Chance): void {
  const places = placesIn(root);
  const at = pick(below, places);
  const other = pick(below, places);
  if (!at || !other) return;
  switch (below(9)) {
    case 0:
    case 1:
    case 2:
      set(at, structuredClone(pick(below, values)));
      break;
    case 3:
      if (Array.isArray(at.holder)) at.holder.splice(Number(at.key), 1);
      else Reflect.deleteProperty(at.holder, at.key);
      break;
    case 4: {
      const inner = valueAt(at);
      const holder = isHolder(inner) && !Array.isArray(inner) ? inner : at.holder;
      if (Array.isArray(holder)) holder.push(structuredClone(pick(below, values)));
      else set({ holder, key: pick(below, keys) }, structuredClone(pick(below, values)));
      break;
    }
    case 5: {
      if (Array.isArray(at.holder)) break;
      const inner = valueAt(at);
      Reflect.deleteProperty(at.holder, at.key);
      set({ holder: at.holder, key: misspelt(at.key, below) }, inner);
      break;
    }
    case 6:
      set(at, structuredClone(valueAt(other)));
      break;
    case 7:
      moveToDefaults(root, below);
      break;
    default:
      if (typeof valueAt(at) === 'string') set(at, misspelt(valueAt(at) as string, below));
  }
}

/** A key of a policy becomes a default, or comes from a variable. */
function moveToDefaults(root: Record<string, unknown>, below: Chance): void {
  const { policies } = root;
  const policy: unknown = Array.isArray(policies) ? pick(below, policies) : undefined;
  if (!isHolder(policy) || Array.isArray(policy)) return;
  const key = pick(below, Object.keys(policy));
  if (key === undefined) return;
  const value = policy[key];
  if (below(3) === 0) {
    root['vars'] = { x: 1, list: ['a'], map: { a: 1 }, moved: value };
    policy[key] = '${{ vars.moved }}';
    return;
  }
  const defaults = isHolder(root['defaults']) && !Array.isArray(root['defaults']) ? root['defaults'] : {};
  root['defaults'] = { ...defaults, [key]: value };
  if (below(2) === 0) delete policy[key];
}

function misspelt(text: string, below: Chance): string {
  const at = below(text.length + 1);
  switch (below(4)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1);
    case 1:
      return text.slice(0, at) + pick(below, [...'abc_ -019%*${}"']) + text.slice(at);
    case 2:
      return text.toUpperCase();
    default:
      return pick(below, keys);
  }
}

/** A copy of the value with one to three changes. */
export function changed(value: unknown, below: Chance): unknown {
  const copy = structuredClone(value) as Record<string, unknown>;
  for (let count = 1 + below(3); count > 0; count -= 1) change(copy, below);
  return copy;
}
