/**
 * The text of a living note. The part between its two marks belongs to Caretaker, one line for each run;
 * everything else belongs to people and stays as it is. Pure.
 */
import { isoMinute } from '../../clock.ts';
import type { Run } from '../../run/run.ts';

/** What the service allows (spec 2.19). */
const MAX_CONTENT = 2500;

/** The first line of Caretaker's part. Lists are searched for it. */
export const beginMark = (policy: string): string => `[Caretaker, ${policy}: last runs]`;
const endStart = (policy: string): string => `[Caretaker, ${policy}: end.`;
const endMark = (policy: string): string =>
  `${endStart(policy)} Write above or below; this part is replaced.]`;

/** One run in the note. */
export interface NoteLine {
  /** Identifies the run in the notes of its policy. */
  key: string;
  text: string;
}

const linePattern = /^(\d{4}-\d\d-\d\d \d\d:\d\dZ) .+?(?: \((\d{8}T\d{6}Z[\w-]*)\))?$/;

/** The line of a run. Runs that have no scheduled time of their own are named by the end of their id. */
export function lineOf(
  { id, policy, trigger, scheduledFor }: Pick<Run, 'id' | 'policy' | 'trigger' | 'scheduledFor'>,
  { done, failed, why = '' }: { done: number; failed: number; why?: string | undefined },
): NoteLine {
  const time = isoMinute(scheduledFor);
  const isScheduled = trigger === 'schedule' || trigger === 'catch-up';
  const name = isScheduled ? '' : id.slice(policy.length + 1);
  const counts = [
    ...(done > 0 ? [done + failed === 1 ? 'done' : `${done} done`] : []),
    ...(failed > 0 ? [done + failed === 1 ? 'failed' : `${failed} failed`] : []),
  ].join(', ');
  const result = failed > 0 && why !== '' ? `${counts}: ${why}` : counts;
  return { key: name || time, text: `${time} ${result}${name === '' ? '' : ` (${name})`}` };
}

/** What is to be done with a note. */
export type NewText =
  | { is: 'changed'; content: string }
  /** It has the lines already. */
  | { is: 'unchanged' }
  /** A person has removed one of the marks: the whole text is theirs. */
  | { is: 'removed' }
  /** The text of people leaves no room for a line. */
  | { is: 'full' };

/**
 * The content with these lines, the newest run first, as many as fit. `content` is that of the note so far, if
 * there is one. Lines that people wrote between the marks are moved below them.
 */
export function withLines(content: string | undefined, policy: string, lines: readonly NoteLine[]): NewText {
  const parts = content === undefined ? { before: '', lines: [], after: '' } : partsOf(content, policy);
  if (!parts) return { is: 'removed' };
  const all = new Map(parts.lines.map((line) => [line.key, line.text]));
  for (const { key, text } of lines) all.set(key, text);
  const newestFirst = [...all.values()].sort((a, b) => (a < b ? 1 : -1));
  const compose = (shown: readonly string[]) =>
    `${parts.before}${[beginMark(policy), ...shown, endMark(policy)].join('\n')}${parts.after}`;
  let count = newestFirst.length;
  while (count > 0 && compose(newestFirst.slice(0, count)).length > MAX_CONTENT) count -= 1;
  if (count === 0) return { is: 'full' };
  const composed = compose(newestFirst.slice(0, count));
  return composed.trim() === content?.trim() ? { is: 'unchanged' } : { is: 'changed', content: composed };
}

interface Parts {
  before: string;
  lines: NoteLine[];
  after: string;
}

function partsOf(content: string, policy: string): Parts | undefined {
  const begin = content.indexOf(beginMark(policy));
  const end = content.indexOf(endStart(policy), begin);
  const close = content.indexOf(']', end);
  if (begin < 0 || end < 0 || close < 0) return undefined;
  const lines: NoteLine[] = [];
  const moved: string[] = [];
  for (const written of content.slice(begin + beginMark(policy).length, end).split(/\r?\n/)) {
    const line = written.trim();
    const [, time, name] = linePattern.exec(line) ?? [];
    if (time !== undefined) lines.push({ key: name ?? time, text: line });
    else if (line !== '') moved.push(`\n${line}`);
  }
  return {
    before: content.slice(0, begin),
    lines,
    after: `${moved.join('')}${content.slice(close + 1)}`,
  };
}
