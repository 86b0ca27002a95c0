/** Formats the findings of targets. */
import type { Finding, Target } from '../../run/run.ts';
import { visibleLine } from '../../text.ts';
import { widthOf } from '../../yaml/width.ts';
import type { Terminal } from './terminal.ts';

const styles: Record<Finding['severity'], 'red' | 'yellow' | 'dim'> = {
  error: 'red',
  warning: 'yellow',
  info: 'dim',
};

/** The maximum width to which a column is padded. */
const MAX_PADDING = 40;

/**
 * Formats a block for each target with findings. Findings of severity `info` are included only with `all`.
 */
export function formatFindings(
  targets: readonly Target[],
  { paint }: Terminal,
  { all }: { all: boolean },
): string | undefined {
  const blocks = targets.flatMap(({ id, label, detail, findings = [] }) => {
    // A finding that the detail of the target already shows is not repeated.
    const shown = findings
      .filter(({ severity, message: says }) => says !== detail && (all || severity !== 'info'))
      .map(({ about, message: says, ...rest }) => ({
        ...rest,
        about: visibleLine(about),
        says: visibleLine(says),
      }));
    if (shown.length === 0) return [];
    const widest = Math.min(MAX_PADDING, Math.max(...shown.map(({ about }) => widthOf(about))));
    const lines = shown.map(
      ({ severity, about, says }) =>
        `  ${paint(styles[severity], severity.padEnd('warning'.length))}  ${about}${' '.repeat(Math.max(0, widest - widthOf(about)))}  ${says}`,
    );
    return [[`${paint('bold', visibleLine(label))} ${paint('dim', id)}`, ...lines].join('\n')];
  });
  return blocks.length === 0 ? undefined : blocks.join('\n');
}
