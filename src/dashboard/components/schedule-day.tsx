/** A day on a time axis: a lane for each policy, and one for freezes. */
import { type Freeze, formatFreeze, formatFrozen } from '../../records/freeze-store.ts';
import { type Entry, type Shown, statesInWords } from '../queries/schedule-entries.ts';
import { type Block, type Lane, Lanes } from './lanes.tsx';
import { policyPath } from './paths.ts';
import { number } from './progress.tsx';
import { clockIn, span as duration } from './time.tsx';
import { isMissed, toneOf } from './week.tsx';

/** How many policies have a lane; all are in the list below. */
const MAX_LANES = 16;

interface DayProps {
  shown: readonly Shown[];
  freezes: readonly Freeze[];
  span: { from: number; to: number };
  zone: string;
}

export const DayLanes = ({ shown, freezes, span: { from, to }, zone }: DayProps) => {
  const names = [...new Set(shown.map(policyNameOf))];
  const frozen = freezes
    .filter((one) => one.at < to && one.until > from)
    .map(
      (one): Block => ({
        from: Math.max(from, one.at),
        ms: Math.min(to, one.until) - Math.max(from, one.at),
        tone: 'busy',
        shape: 'band',
        text: `${formatFrozen(one)}: ${formatFreeze(one)}`,
      }),
    );
  const lanes: Lane[] = [
    ...(frozen.length > 0 ? [{ key: 'freezes', name: 'Freeze', whole: 'Freeze', blocks: frozen }] : []),
    ...names.slice(0, MAX_LANES).map((name) => ({
      key: name,
      name: <a href={policyPath(name)}>{name}</a>,
      whole: name,
      blocks: shown
        .filter((one) => policyNameOf(one) === name)
        .flatMap((one) => blocksOf(one, { from, to, zone })),
    })),
  ];
  if (names.length === 0) return null;
  return (
    <div class="card day-lanes" data-from={from} data-to={to}>
      <Lanes
        from={from}
        to={to}
        lanes={lanes}
        axis={[0, 1, 2, 3, 4].map((quarter) => clockIn(zone, from + (quarter * (to - from)) / 4))}
      />
      <p class="dim small">
        A block is as long as the run is predicted to take, a dot is a run of which that is not known, a thin
        band is a policy with many runs. A line is a deadline.
        {names.length > MAX_LANES && ` ${names.length - MAX_LANES} more policies are in the list below.`}
      </p>
    </div>
  );
};

const policyNameOf = (one: Shown): string => (one.is === 'many' ? one.policy : one.entry.policy).name;

function blocksOf(one: Shown, { from, to, zone }: { from: number; to: number; zone: string }): Block[] {
  if (one.is === 'many') {
    const troubled = one.entries.filter(isMissed);
    const text = `${one.policy.name}: ${number(one.entries.length)} times from ${clockIn(zone, one.from)} to ${clockIn(zone, one.to)} (${statesInWords(one.entries)})`;
    return [
      { from: one.from, ms: one.to - one.from, shape: 'band', text },
      ...troubled.slice(0, 50).map(
        (entry): Block => ({
          from: entry.at,
          ms: 0,
          shape: 'mark',
          tone: 'missed',
          text: entryInWords(entry, zone),
        }),
      ),
    ];
  }
  const { entry } = one;
  const tone = toneOf(entry);
  const toned = tone === undefined ? {} : { tone };
  const text = entryInWords(entry, zone);
  const deadline: Block[] =
    entry.dueBy === undefined || entry.dueBy < from || entry.dueBy > to
      ? []
      : [
          {
            from: entry.dueBy,
            ms: 0,
            shape: 'mark',
            tone: entry.isLate ? 'bad' : 'none',
            text: `deadline of ${entry.policy.name} at ${clockIn(zone, entry.dueBy)}`,
          },
        ];
  if (entry.ms === undefined) return [{ from: entry.at, ms: 0, shape: 'point', text, ...toned }, ...deadline];
  return [{ from: entry.at, ms: entry.ms, text, ...toned }, ...deadline];
}

/** `nightly-sync at 02:00: planned, 12 min, 300 requests`. */
export function entryInWords(entry: Entry, zone: string): string {
  const { policy, at, state, status, note, ms, requests, isEarliest, dueBy, isLate } = entry;
  const parts = [
    status ?? state,
    note,
    isEarliest && 'not before this time',
    ms === undefined ? state === 'planned' && 'duration not known' : duration(ms),
    requests !== undefined && `${number(Math.round(requests))} requests`,
    dueBy !== undefined &&
      `deadline ${clockIn(zone, dueBy)}${isLate ? (state === 'planned' ? ', predicted to be missed' : ', missed') : ''}`,
  ].filter(Boolean);
  return `${policy.name} at ${clockIn(zone, at)}: ${parts.join(', ')}`;
}
