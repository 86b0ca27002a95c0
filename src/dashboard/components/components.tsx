/** How statuses, times, durations, runs and tables are shown on every page. */

import type { Child } from 'hono/jsx';
import { createContext, useContext } from 'hono/jsx';
import { isoTime } from '../../clock.ts';
import { endedCount } from '../../run/moves.ts';
import type { Reason, Reasons } from '../../run/reasons.ts';
import type { Counts, Run } from '../../run/run.ts';
import { relativeTime } from '../client/relative-time.ts';

/** A status or an outcome as a small coloured word; the colour is in the style sheet. */
export const Badge = ({ word }: { word: string }) => <span class={`badge is-${word}`}>{word}</span>;

/** A time with how long ago or ahead it is. In UTC; `client/live.ts` shows it in the reader's time zone. */
export const Time = ({ at, now }: { at: number | undefined; now: number }) =>
  at === undefined ? (
    <span class="dim">–</span>
  ) : (
    <span class="with-age">
      <time datetime={isoTime(at)}>{utcMinute(at)}</time>{' '}
      <span class="ago dim" data-of={isoTime(at)}>
        {relativeTime(at - now)}
      </span>
    </span>
  );

/** A time in UTC, as other rooms write it into sentences. */
const WRITTEN_TIME = /(\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z)/;

/** A recorded sentence. Its times are marked, so that `client/live.ts` shows them in the reader's time zone. */
export const Sentence = ({ text }: { text: string }) => (
  <>
    {text.split(WRITTEN_TIME).map((part) => {
      const at = WRITTEN_TIME.test(part) ? Date.parse(part.replace(' ', 'T')) : Number.NaN;
      return Number.isNaN(at) ? part : <time datetime={isoTime(at)}>{utcMinute(at)}</time>;
    })}
  </>
);

const utcMinute = (at: number): string => `${isoTime(at).slice(0, 16).replace('T', ' ')} UTC`;

/** A time in a given time zone, with its name: `Sun 22 Nov, 02:04 Europe/Berlin`. */
export function timeIn(at: number, timeZone: string): string {
  const form = {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  } as const;
  return `${new Date(at).toLocaleString('en-GB', { ...form, timeZone })} ${timeZone}`;
}

/** A duration in its two largest units: `1 h 4 min`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const units = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = units.findIndex(([count]) => count > 0);
  if (first < 0) return '0 s';
  return units
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

/** How long a run took, or has taken so far. */
export const lengthOf = (run: Run, now: number): string =>
  run.startedAt === undefined ? '–' : span((run.finishedAt ?? now) - run.startedAt);

export const number = (count: number): string => count.toLocaleString('en-US');

const shown = ['succeeded', 'failed', 'skipped', 'cancelled'] as const;

/** `3 succeeded, 1 failed`, without zeros. */
export function countsLine(counts: Counts): string {
  const parts = shown
    .filter((outcome) => counts[outcome] > 0)
    .map((outcome) => `${number(counts[outcome])} ${outcome}`);
  return parts.join(', ') || (counts.planned > 0 ? 'none has ended yet' : 'no targets');
}

/** The sentence to read first: why a run has its status, where its counts do not show it. */
export function whyOf({ status, detail, counts, planComplete }: Run): string | undefined {
  if (detail !== undefined) return detail;
  if (status === 'queued') return 'It waits for its turn, or for a worker to plan it.';
  if (status === 'planning') return 'Its targets are being listed; nothing has been sent yet.';
  if (status === 'partial') return `${number(counts.failed)} of ${number(counts.planned)} targets failed.`;
  if (status === 'failed' && counts.failed > 0) {
    return `Nothing succeeded: ${number(counts.failed)} of ${number(counts.planned)} targets failed.`;
  }
  if (status === 'succeeded' && planComplete && counts.planned === 0) {
    return 'Its plan was empty: no target was selected.';
  }
  return undefined;
}

/** `whyOf` as a paragraph. */
export const WhyLine = ({ run }: { run: Run }) => {
  const why = whyOf(run);
  return why === undefined ? null : (
    <p>
      <Sentence text={why} />
    </p>
  );
};

/** The reasons with their sentences; `showPage` provides them. */
export const ReasonsContext = createContext<Reasons>(new Map());

/** A reason code with its sentence. */
export const Why = ({ reason }: { reason: Reason }) => (
  <>
    <code>{reason}</code> <span class="dim">{useContext(ReasonsContext).get(reason)?.text ?? ''}</span>
  </>
);

export const runPath = (id: string, more = ''): string => `/runs/${encodeURIComponent(id)}${more}`;
export const policyPath = (name: string, more = ''): string => `/policies/${encodeURIComponent(name)}${more}`;
export const targetPath = (account: string, target: string): string =>
  `/targets/${encodeURIComponent(account)}/${encodeURIComponent(target)}`;

/** A table with its heads. `name` is its caption, for screen readers only. */
export const Table = ({
  name,
  heads,
  widths,
  children,
}: {
  name: string;
  heads: readonly string[];
  /** Fixed widths, one class a column, so that live updates move nothing. */
  widths: readonly string[];
  children: Child;
}) => (
  <table>
    <caption class="unseen">{name}</caption>
    <thead>
      <tr>
        {heads.map((head, index) => (
          <th scope="col" class={widths[index] ?? ''}>
            {head}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
);

/** A link that looks like a button. `of` is added to its name for screen readers. */
export const Action = ({ to, children, of }: { to: string; children: Child; of?: string }) => (
  <a class="action" href={to}>
    {children}
    {of !== undefined && <span class="unseen"> {of}</span>}
  </a>
);

/** One row of a list of runs: time, policy, outcome and why. */
export const RunRow = ({ run, now, withPolicy }: { run: Run; now: number; withPolicy: boolean }) => (
  <tr data-key={run.id}>
    <td data-label="Run">
      <a href={runPath(run.id)} class="plain">
        <Badge word={run.status} /> <Time at={run.startedAt ?? run.createdAt} now={now} />
      </a>
    </td>
    {withPolicy && (
      <td data-label="Policy">
        <a href={policyPath(run.policy)}>{run.policy}</a>
      </td>
    )}
    <td data-label="Outcome">
      <WhyLine run={run} />
      <p class="dim">{countsLine(run.counts)}</p>
    </td>
    <td data-label="Trigger">{run.trigger}</td>
    <td data-label="Took">{lengthOf(run, now)}</td>
  </tr>
);

/** A table of runs. */
export const RunTable = ({
  name,
  runs,
  now,
  withPolicy = true,
}: {
  name: string;
  runs: readonly Run[];
  now: number;
  withPolicy?: boolean;
}) => (
  <Table
    name={name}
    heads={['Run', ...(withPolicy ? ['Policy'] : []), 'Outcome', 'Trigger', 'Took']}
    widths={['w-run', ...(withPolicy ? ['w-name'] : []), '', 'w-word', 'w-word']}
  >
    {runs.map((run) => (
      <RunRow run={run} now={now} withPolicy={withPolicy} />
    ))}
  </Table>
);

/** The outcomes of a run as one bar. Its widths are SVG attributes, since inline styles are not allowed. */
export function Bar({ counts }: { counts: Counts }) {
  const width = Math.max(1, counts.planned);
  let x = 0;
  return (
    <svg
      class="bar"
      viewBox={`0 0 ${width} 1`}
      preserveAspectRatio="none"
      role="img"
      aria-label={barLabel(counts)}
    >
      {shown.map((outcome) => {
        const from = x;
        x += counts[outcome];
        return <rect class={`is-${outcome}`} x={from} y="0" width={counts[outcome]} height="1" />;
      })}
    </svg>
  );
}

const barLabel = (counts: Counts): string =>
  `${number(endedCount(counts))} of ${number(counts.planned)} targets have ended: ${countsLine(counts)}`;

/** The progress of an active run in words. */
export const progressOf = ({ counts, planComplete }: Run): string =>
  planComplete
    ? `${number(endedCount(counts))} of ${number(counts.planned)}: ${countsLine(counts)}`
    : `${number(counts.planned)} targets so far`;
