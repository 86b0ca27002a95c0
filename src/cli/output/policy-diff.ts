/** Formats the differences between policies. */
import { isoMinute } from '../../clock.ts';
import type { KeyChange } from '../../policy/policy-diff.ts';
import type { TargetChanges } from '../target-changes.ts';
import type { Terminal } from './terminal.ts';

/** The result of one policy. */
export interface PolicyDiff {
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

export function printDiff(
  found: readonly PolicyDiff[],
  { data, paint }: Pick<Terminal, 'data' | 'paint'>,
): void {
  for (const { policy, change, file, why, keys, next, targets } of found) {
    const place = file === null ? '' : ` ${paint('dim', `(${file})`)}`;
    const because = why === undefined ? '' : `: ${why}`;
    data(`${paint(styles[change], `${signs[change]} ${policy}`)}${place}${because}`);
    for (const one of keys) data(`    ${keyLine(one, paint)}`);
    const from = change === 'added' ? '' : `${timesOf(next?.before ?? [])} -> `;
    if (next) data(`    next: ${from}${timesOf(next.after)}`);
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

const timesOf = (times: readonly string[]): string =>
  times.map((time) => (Number.isNaN(Date.parse(time)) ? time : isoMinute(time))).join(', ') || 'never';
