/** The times of a day as a list: the whole of the page on a phone, and in words what the drawings show. */
import { type Entry, type Shown, statesInWords } from '../queries/schedule-entries.ts';
import { Badge } from './badge.tsx';
import { Dash, NotKnown } from './empty.tsx';
import { policyPath, runPath } from './paths.ts';
import { number } from './progress.tsx';
import { Cut, Table } from './table.tsx';
import { clockIn, span } from './time.tsx';
import { isMissed } from './week.tsx';

/** How many lines; a day with more can be filtered. */
const MAX_LINES = 200;

interface ListProps {
  shown: readonly Shown[];
  zone: string;
  name?: string;
  none?: string;
}

export const DayList = ({
  shown,
  zone,
  name = 'The times of the day',
  none = 'Nothing is on the schedule of this day.',
}: ListProps) => {
  if (shown.length === 0) return <p class="dim">{none}</p>;
  return (
    <>
      <Table
        name={name}
        columns={(column) => [
          column('Time', 'w-badge', (one) => <span class="strong">{timesOf(one, zone)}</span>),
          column('Policy', '', (one) => {
            const note = one.is === 'many' ? statesInWords(one.entries) : one.entry.note;
            const { name } = policyOf(one);
            return (
              <Cut whole={note === undefined ? name : `${name}: ${note}`}>
                <a class="strong" href={policyPath(name)}>
                  {name}
                </a>{' '}
                {note && <span class="dim">{note}</span>}
              </Cut>
            );
          }),
          column({ head: 'In the zone of the policy', label: 'Its zone' }, 'w-in wide-only', (one) => {
            const itsZone = policyOf(one).schedule?.timezone ?? 'UTC';
            return (
              <Cut whole={one.is === 'many' ? itsZone : `${clockIn(itsZone, one.entry.at)} ${itsZone}`} />
            );
          }),
          column('State', 'w-planned', State),
          column('Duration', 'w-word end', (one) => {
            const ms = one.is === 'many' ? plannedOf(one)[0]?.ms : one.entry.ms;
            return ms === undefined ? <NoValue one={one} /> : span(ms);
          }),
          column('Requests', 'w-do end middle-only', (one) => {
            const requests = requestsOf(one);
            return requests === undefined ? <NoValue one={one} /> : number(Math.round(requests));
          }),
          column('Deadline', 'w-word end middle-only', (one) => <Deadline one={one} zone={zone} />),
        ]}
        rows={shown.slice(0, MAX_LINES)}
        keyOf={(one) =>
          one.is === 'many'
            ? `${one.policy.name} many`
            : `${one.entry.policy.name} ${one.entry.scheduledFor} ${one.entry.state}`
        }
      />
      {shown.length > MAX_LINES && (
        <p class="dim">{number(shown.length - MAX_LINES)} more. Filter by name to see them.</p>
      )}
    </>
  );
};

type Many = Shown & { is: 'many' };

const policyOf = (one: Shown): Entry['policy'] => (one.is === 'many' ? one.policy : one.entry.policy);

const timesOf = (one: Shown, zone: string): string =>
  one.is === 'many'
    ? `${clockIn(zone, one.from)}–${clockIn(zone, one.to)}`
    : `${one.entry.isEarliest ? 'from ' : ''}${clockIn(zone, one.entry.at)}`;

/** Those that are planned, and of which the duration is known. */
const plannedOf = ({ entries }: Many): readonly Entry[] =>
  entries.filter(({ state, ms }) => state === 'planned' && ms !== undefined);

function requestsOf(one: Shown): number | undefined {
  if (one.is !== 'many') return one.entry.requests;
  const planned = plannedOf(one);
  return planned.length === 0 ? undefined : planned.reduce((all, { requests = 0 }) => all + requests, 0);
}

/** What is ahead is not known; of what is over there is none. */
const NoValue = ({ one }: { one: Shown }) =>
  one.is !== 'many' && one.entry.state === 'planned' ? <NotKnown /> : <Dash />;

function State(one: Shown) {
  if (one.is === 'many')
    return one.entries.some(isMissed) ? (
      <Badge word="missed" />
    ) : (
      <span>{number(one.entries.length)} times</span>
    );
  const { run, status, state } = one.entry;
  if (!run) return <Badge word={state} />;
  return (
    <a class="plain" href={runPath(run)}>
      <Badge word={status ?? state} />
    </a>
  );
}

const Deadline = ({ one, zone }: { one: Shown; zone: string }) => {
  if (one.is === 'many' || one.entry.dueBy === undefined) return <Dash />;
  const { dueBy, isLate, state } = one.entry;
  const isAhead = state === 'planned';
  if (!isLate) return <>{clockIn(zone, dueBy)}</>;
  return (
    <span class="tone is-bad" title={isAhead ? 'It is predicted to be missed.' : 'It was missed.'}>
      {clockIn(zone, dueBy)} {isAhead ? 'too late' : 'missed'}
    </span>
  );
};
