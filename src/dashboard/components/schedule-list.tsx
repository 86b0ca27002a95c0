/** The times of a day as a list: the whole of the page on a phone, and in words what the drawings show. */
import { type Entry, type Shown, statesInWords } from '../queries/schedule-entries.ts';
import { Badge } from './badge.tsx';
import { policyPath, runPath } from './paths.ts';
import { number } from './progress.tsx';
import { Cut, DataTable } from './table.tsx';
import { span } from './time.tsx';
import { isMissed } from './week.tsx';
import { clockIn } from './zoned.ts';

/** How many lines; a day with more can be filtered. */
const MAX_LINES = 200;

export const DayList = ({ shown, zone }: { shown: readonly Shown[]; zone: string }) => {
  if (shown.length === 0) return <p class="dim">Nothing is on the schedule of this day.</p>;
  return (
    <>
      <DataTable
        name="The times of the day"
        columns={[
          { head: 'Time', width: 'w-badge' },
          { head: 'Policy' },
          { head: 'In the zone of the policy', width: 'w-in', wideOnly: true },
          { head: 'State', width: 'w-planned' },
          { head: 'Duration', width: 'w-word', end: true },
          { head: 'Requests', width: 'w-do', end: true, middleOnly: true },
          { head: 'Deadline', width: 'w-word', end: true, middleOnly: true },
        ]}
      >
        {shown
          .slice(0, MAX_LINES)
          .map((one) =>
            one.is === 'many' ? <Many one={one} zone={zone} /> : <Single entry={one.entry} zone={zone} />,
          )}
      </DataTable>
      {shown.length > MAX_LINES && (
        <p class="dim">{number(shown.length - MAX_LINES)} more. Filter by name to see them.</p>
      )}
    </>
  );
};

const NotKnown = () => <span class="dim">not known</span>;

const Single = ({ entry, zone }: { entry: Entry; zone: string }) => {
  const { policy, at, state, status, note, ms, requests, run, isEarliest, dueBy, isLate } = entry;
  const isAhead = state === 'planned';
  return (
    <tr data-key={`${policy.name} ${entry.scheduledFor} ${state}`} data-row>
      <td data-label="Time" class="strong">
        {isEarliest ? 'from ' : ''}
        {clockIn(zone, at)}
      </td>
      <td data-label="Policy">
        <Cut whole={note === undefined ? policy.name : `${policy.name}: ${note}`}>
          <a class="strong" href={policyPath(policy.name)}>
            {policy.name}
          </a>{' '}
          {note && <span class="dim">{note}</span>}
        </Cut>
      </td>
      <td data-label="Its zone" class="wide-only">
        <InItsZone entry={entry} />
      </td>
      <td data-label="State">
        {run ? (
          <a class="plain" href={runPath(run)}>
            <Badge word={status ?? state} />
          </a>
        ) : (
          <Badge word={state} />
        )}
      </td>
      <td data-label="Duration" class="end">
        {ms === undefined ? isAhead ? <NotKnown /> : <span class="dim">–</span> : span(ms)}
      </td>
      <td data-label="Requests" class="end middle-only">
        {requests === undefined ? (
          isAhead ? (
            <NotKnown />
          ) : (
            <span class="dim">–</span>
          )
        ) : (
          number(Math.round(requests))
        )}
      </td>
      <td data-label="Deadline" class="end middle-only">
        {dueBy === undefined ? (
          <span class="dim">–</span>
        ) : isLate ? (
          <span class="tone is-bad" title={isAhead ? 'It is predicted to be missed.' : 'It was missed.'}>
            {clockIn(zone, dueBy)} {isAhead ? 'too late' : 'missed'}
          </span>
        ) : (
          clockIn(zone, dueBy)
        )}
      </td>
    </tr>
  );
};

const InItsZone = ({ entry: { policy, at } }: { entry: Entry }) => {
  const zone = policy.schedule?.timezone ?? 'UTC';
  const text = `${clockIn(zone, at)} ${zone}`;
  return <Cut whole={text}>{text}</Cut>;
};

const Many = ({
  one: { policy, entries, from, to },
  zone,
}: {
  one: Shown & { is: 'many' };
  zone: string;
}) => {
  const known = entries.filter(({ state, ms }) => state === 'planned' && ms !== undefined);
  const troubled = entries.some(isMissed);
  return (
    <tr data-key={`${policy.name} many`} data-row>
      <td data-label="Time" class="strong">
        {clockIn(zone, from)}–{clockIn(zone, to)}
      </td>
      <td data-label="Policy">
        <Cut whole={`${policy.name}: ${statesInWords(entries)}`}>
          <a class="strong" href={policyPath(policy.name)}>
            {policy.name}
          </a>{' '}
          <span class="dim">{statesInWords(entries)}</span>
        </Cut>
      </td>
      <td data-label="Its zone" class="wide-only">
        <Cut whole={policy.schedule?.timezone ?? 'UTC'}>{policy.schedule?.timezone ?? 'UTC'}</Cut>
      </td>
      <td data-label="State">
        {troubled ? <Badge word="missed" /> : <span>{number(entries.length)} times</span>}
      </td>
      <td data-label="Duration" class="end">
        {known[0]?.ms === undefined ? <span class="dim">–</span> : span(known[0].ms)}
      </td>
      <td data-label="Requests" class="end middle-only">
        {known.length === 0 ? (
          <span class="dim">–</span>
        ) : (
          number(Math.round(known.reduce((all, { requests = 0 }) => all + requests, 0)))
        )}
      </td>
      <td data-label="Deadline" class="end middle-only">
        <span class="dim">–</span>
      </td>
    </tr>
  );
};
