/** The findings of a run's targets as text. */
import type { Finding, Target } from '../../run/run.ts';
import { visibleLine } from '../../text.ts';
import { widthOf } from '../../yaml/width.ts';
import type { Terminal } from './terminal.ts';

const styles: Record<Finding['severity'], 'red' | 'yellow' | 'dim'> = {
  error: 'red',
  warning: 'yellow',
  info: 'dim',
};

/** No column is padded beyond that. */
const MAX_PADDING = 40;

/** A block for each target that has findings, or that has graver ones than `info` unless `all` are wanted. */
export function formatFindings(
  targets: readonly Target[],
  { paint }: Terminal,
  { all }: { all: boolean },
): string | undefined {
  const blocks = targets.flatMap(({ id, label, detail, findings = [] }) => {
    // What the target's detail says already is not said again.
    const told = findings
      .filter(({ severity, message: says }) => says !== detail && (all || severity !== 'info'))
      .map(({ about, message: says, ...rest }) => ({
        ...rest,
        about: visibleLine(about),
        says: visibleLine(says),
      }));
    if (told.length === 0) return [];
    const widest = Math.min(MAX_PADDING, Math.max(...told.map(({ about }) => widthOf(about))));
    const lines = told.map(
      ({ severity, about, says }) =>
        `  ${paint(styles[severity], severity.padEnd('warning'.length))}  ${about}${' '.repeat(Math.max(0, widest - widthOf(about)))}  ${says}`,
    );
    return [[`${paint('bold', visibleLine(label))} ${paint('dim', id)}`, ...lines].join('\n')];
  });
  return blocks.length === 0 ? undefined : blocks.join('\n');
}
