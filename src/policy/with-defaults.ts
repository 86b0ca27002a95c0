/** A policy as it would be written with every default, as YAML that says which values are the defaults. */
import { Document, isCollection, isNode } from 'yaml';
import type { Registry } from '../job/registry.ts';
import { asWritten } from './as-written.ts';
import type { Policy } from './policy.ts';
import { PolicyEntry } from './policy-file.ts';
import { targetMsOf, toPolicy } from './to-policy.ts';

/** The comment behind a value that is the default. */
const MARK = ' default';

/**
 * A file with this policy alone. A value with the comment `# default` is the one that holds without its key; the file may
 * have the key all the same.
 */
export function yamlWithDefaults(policy: Policy, registry: Registry): string {
  const entry = asWritten(policy, registry);
  const document = new Document({ policies: [entry] });
  for (const key of defaultKeys(policy, entry, registry)) {
    const node = document.getIn(['policies', 0, ...key], true);
    if (!isNode(node)) continue;
    // A list on several lines has no end where the comment could be.
    if (isCollection(node)) node.flow = true;
    node.comment = MARK;
  }
  return document.toString({ lineWidth: 0 });
}

type Key = readonly string[];
type Values = Readonly<Record<string, unknown>>;

/** The keys whose values are the same in a policy that has nothing but what it must have. */
function defaultKeys(policy: Policy, entry: Values, registry: Registry): Key[] {
  const least = leastPolicy(policy, registry);
  return least
    ? sameKeys(entry, asWritten(least, registry), []).filter((key) => !required.has(key.join('.')))
    : [];
}

/** They have no default. */
const required = new Set([
  'name',
  'job',
  'steps',
  'schedule.cron',
  'schedule.after.policy',
  'approval.when',
  'rollout.batches',
]);

function leastPolicy(policy: Policy, registry: Registry): Policy | undefined {
  const { name, schedule, approval, rollout, timeout } = policy;
  const after = schedule?.after && { policy: schedule.after.policy };
  const read = PolicyEntry.safeParse({
    name,
    job: policy.job,
    ...(schedule ? { schedule: after ? { after } : { cron: [...schedule.cron] } } : {}),
    ...(approval ? { approval: { when: 'always' } } : {}),
    ...(rollout ? { rollout: { batches: ['100%'] } } : {}),
  });
  if (!read.success) return undefined;
  const options = registry.get(policy.job)?.options['~standard'].validate({});
  const given = options && 'value' in options ? options.value : {};
  const least = toPolicy(read.data, { work: { options: given }, calendars: {} }, policy);
  // The default of one depends on the other.
  const targetMs = targetMsOf({ target: undefined, run: timeout.runMs });
  return { ...least, timeout: { ...least.timeout, targetMs } };
}

function sameKeys(values: Values, others: Values, path: Key): Key[] {
  return Object.entries(values).flatMap(([name, value]): Key[] => {
    const key = [...path, name];
    if (!Object.hasOwn(others, name)) return [];
    const other = others[name];
    if (isMap(value) && isMap(other) && Object.keys(value).length > 0) return sameKeys(value, other, key);
    return JSON.stringify(value) === JSON.stringify(other) ? [key] : [];
  });
}

const isMap = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
