import { isoMinute, isoTime } from '../../clock.ts';
import type { Registry } from '../../job/registry.ts';
import { formatAfter } from '../../policy/chains.ts';
import type { Policy } from '../../policy/policy.ts';
import { type KeyChange, keyChanges } from '../../policy/policy-diff.ts';
import { nextFirings } from '../../schedule/next-firings.ts';
import type { Settings } from '../../settings/settings.ts';
import { InvalidFilesError, shortFile } from '../../yaml/diagnostic.ts';
import { type GlobalOptions, policiesOf, settingsOf, withRecords } from '../context.ts';
import { exit } from '../exit.ts';
import { clockOf } from '../io.ts';
import { show } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';
import { atOf } from '../parse-time.ts';
import { activePolicies, type PolicyVersions, policiesAgainst } from '../policy-versions.ts';
import { openTargets, type TargetChanges, type TargetsOf, targetChanges } from '../target-changes.ts';

interface DiffOptions extends GlobalOptions {
  against?: string;
  inventory?: string;
  at?: string;
}

const NEXT_COMPARED = 3;

/**
 * Shows what a change of policy files changes: policies, keys, scheduled times and, with an inventory,
 * targets. Exit code 0: no difference, 1: differences, 2: files with errors.
 *
 * @throws {InvalidFilesError} when the files here have errors.
 */
export async function diffPolicies(terminal: Terminal, options: DiffOptions): Promise<number> {
  const settings = settingsOf(terminal, options);
  const { loadJobs } = await import('../../app/load-jobs.ts');
  const registry = await loadJobs();
  const at = atOf(options.at, clockOf(terminal.io).now());
  const here = await policiesOf(settings);
  if (here.findings.length > 0) throw new InvalidFilesError(here.findings);
  const [before, now] = await otherSide(terminal, options, settings);
  const targetsOf = options.inventory
    ? await openTargets(options.inventory, { settings, registry, ...(at === undefined ? {} : { at }) })
    : undefined;
  const found = await compare(before, here.policies, {
    registry,
    now: at ?? now,
    ...(targetsOf && { targetsOf }),
  });
  await show(terminal, options, {
    value: { against: before.origin, policies: found },
    rows: found.flatMap(rowsOf),
    columns: ['policy', 'change', 'key', 'before', 'after'],
    text: () => {
      printDiff(found, terminal);
      terminal.message(summaryOf(found, before));
    },
  });
  for (const [name, why] of before.unknown)
    if (name === '')
      terminal.message(`${terminal.paint('yellow', 'warning')}: ${why}; its policies may look added.`);
  return found.length > 0 ? exit.notAllWell : exit.ok;
}

/** The policies to compare with, and the time. */
async function otherSide(
  terminal: Terminal,
  options: DiffOptions,
  settings: Settings,
): Promise<[PolicyVersions, number]> {
  const { against } = options;
  if (against !== undefined) {
    const load = (dir: string) => policiesOf({ ...settings, policiesDir: dir });
    return [await policiesAgainst(against, settings, load), clockOf(terminal.io).now()];
  }
  return withRecords(terminal, options, settings, async ({ records, clock }) => [
    await activePolicies(records, clock.now()),
    clock.now(),
  ]);
}

interface Comparing {
  registry: Registry;
  now: number;
  targetsOf?: TargetsOf;
}

/** The policies that differ, sorted by name. */
async function compare(
  { policies: old, unknown }: PolicyVersions,
  here: readonly Policy[],
  comparing: Comparing,
): Promise<PolicyDiff[]> {
  const before = new Map(old.map((policy) => [policy.name, policy]));
  const after = new Map(here.map((policy) => [policy.name, policy]));
  const names = [...new Set([...before.keys(), ...after.keys(), ...unknown.keys()])].filter(
    (name) => name !== '',
  );
  const found: PolicyDiff[] = [];
  for (const name of names.sort()) {
    const why = unknown.get(name);
    const one =
      why === undefined
        ? await compareOne(name, before.get(name), after.get(name), comparing)
        : unknownPolicy(name, why, after.get(name));
    if (one) found.push(one);
  }
  return found;
}

const unknownPolicy = (policy: string, why: string, here: Policy | undefined): PolicyDiff => ({
  ...{ policy, change: here ? 'unknown' : 'removed', file: here ? shortFile(here.file) : null, why },
  ...{ keys: [], next: null, targets: null },
});

async function compareOne(
  policy: string,
  before: Policy | undefined,
  after: Policy | undefined,
  { registry, now, targetsOf }: Comparing,
): Promise<PolicyDiff | undefined> {
  const keys = before && after ? keyChanges(before, after, registry) : [];
  if (before && after && keys.length === 0) return undefined;
  const next = { before: timesOf(before, now), after: timesOf(after, now) };
  return {
    policy,
    change: !before ? 'added' : !after ? 'removed' : 'changed',
    file: after ? shortFile(after.file) : null,
    keys,
    next: next.before.join() === next.after.join() ? null : next,
    targets: targetsOf ? await targetChanges(before, after, targetsOf) : null,
  };
}

/** The next scheduled times, or what starts the policy instead. */
function timesOf(policy: Policy | undefined, now: number): string[] {
  if (policy?.schedule?.after) return [formatAfter(policy.schedule.after)];
  return policy ? nextFirings(policy, now, NEXT_COMPARED).map(({ at }) => isoTime(at)) : [];
}

function rowsOf({ policy, change, keys, next, targets, why }: PolicyDiff): object[] {
  const gained = targets && 'gained' in targets ? targets.gained : [];
  const lost = targets && 'lost' in targets ? targets.lost : [];
  return [
    { policy, change, key: null, before: null, after: why ?? null },
    ...keys.map(({ key, before, after }) => ({
      policy,
      change: 'key',
      key,
      before: inOne(before),
      after: inOne(after),
    })),
    ...(next
      ? [{ policy, change: 'next', key: null, before: next.before[0] ?? null, after: next.after[0] ?? null }]
      : []),
    ...gained.map(({ id }) => ({ policy, change: 'target gained', key: id, before: null, after: id })),
    ...lost.map(({ id }) => ({ policy, change: 'target lost', key: id, before: id, after: null })),
  ];
}

const inOne = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? null);

function summaryOf(found: readonly PolicyDiff[], { origin }: PolicyVersions): string {
  if (found.length === 0) return `No difference from ${origin}.`;
  const counts = (['added', 'removed', 'changed', 'unknown'] as const).flatMap((change) => {
    const count = found.filter((one) => one.change === change).length;
    return count === 0 ? [] : [`${count} ${change}`];
  });
  return `Compared with ${origin}: ${found.length === 1 ? '1 policy differs' : `${found.length} policies differ`} (${counts.join(', ')}).`;
}

/** The result of one policy. */
interface PolicyDiff {
  policy: string;
  /** `unknown`: it is there in both, but one of the versions cannot be read. */
  change: 'added' | 'removed' | 'changed' | 'unknown';
  /** Its file here; that of the other side for a policy that is removed. */
  file: string | null;
  /** Why it is unknown. */
  why?: string;
  keys: readonly KeyChange[];
  /** The next scheduled times of both versions, when they differ. */
  next: { before: string[]; after: string[] } | null;
  /** With an inventory: which targets the change gains and loses. */
  targets: TargetChanges | null;
}

/** The maximum number of targets printed for each policy. `--json` has all. */
const MAX_TARGETS = 20;

const signs = { added: '+', removed: '-', changed: '~', unknown: '?' } as const;
const styles = { added: 'green', removed: 'red', changed: 'yellow', unknown: 'yellow' } as const;

function printDiff(found: readonly PolicyDiff[], { data, paint }: Pick<Terminal, 'data' | 'paint'>): void {
  for (const { policy, change, file, why, keys, next, targets } of found) {
    const place = file === null ? '' : ` ${paint('dim', `(${file})`)}`;
    const because = why === undefined ? '' : `: ${why}`;
    data(`${paint(styles[change], `${signs[change]} ${policy}`)}${place}${because}`);
    for (const one of keys) data(`    ${keyLine(one, paint)}`);
    const from = change === 'added' ? '' : `${timesLine(next?.before ?? [])} -> `;
    if (next) data(`    next: ${from}${timesLine(next.after)}`);
    if (targets) for (const line of targetLines(targets, paint)) data(`    ${line}`);
  }
}

function keyLine({ key, before, after }: KeyChange, paint: Terminal['paint']): string {
  if (before === undefined) return paint('green', `+ ${key}: ${inline(after)}`);
  if (after === undefined) return paint('red', `- ${key}: ${inline(before)}`);
  return `${paint('yellow', '~')} ${key}: ${inline(before)} -> ${inline(after)}`;
}

function targetLines(targets: TargetChanges, paint: Terminal['paint']): string[] {
  if ('unknown' in targets) return [`targets: unknown: ${targets.unknown}`];
  const { gained, lost } = targets;
  const lines = [
    ...gained.map(({ id, label }) => paint('green', `  + ${id}  ${label}`)),
    ...lost.map(({ id, label }) => paint('red', `  - ${id}  ${label}`)),
  ];
  const more = lines.length - MAX_TARGETS;
  return [
    `targets: ${gained.length} gained, ${lost.length} lost`,
    ...lines.slice(0, MAX_TARGETS),
    ...(more > 0 ? [`  and ${more} more (--json lists all)`] : []),
  ];
}

/** A value on one line, as in YAML. */
const inline = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const timesLine = (times: readonly string[]): string =>
  times.map((time) => (Number.isNaN(Date.parse(time)) ? time : isoMinute(time))).join(', ') || 'never';
