import { isoMinute } from '../../clock.ts';
import type { Policy } from '../../policy/policy.ts';
import type { ScheduledTime } from '../../records/ledger-store.ts';
import { formatSkipCause } from '../../schedule/skip-cause.ts';
import { Badge } from '../components/badge.tsx';
import { Empty } from '../components/empty.tsx';
import { pathWith } from '../components/filter-bar.tsx';
import { policyPath, runPath } from '../components/paths.ts';
import { Progress } from '../components/run-list.tsx';
import { RunTook, whyOf } from '../components/run-table.tsx';
import { Cut, DataTable } from '../components/table.tsx';
import { Sentence, Time } from '../components/time.tsx';
import { type HistoryEntry, type HistoryPage, readHistory } from '../queries/policy-history.ts';
import { policyTab } from './policy.tsx';

const PAGE = 50;

/** Every scheduled time of a policy with the result of it, and its other runs, newest first. */
export const showPolicy = policyTab('History', async (c, { reader, clock }, policy) => {
  const before = Number(c.req.query('before')) || undefined;
  const page = await readHistory(reader, policy.name, { limit: PAGE, before });
  const now = clock.now();
  return (
    <section id="history" class="tab" data-live aria-label="History">
      {page.entries.length === 0 ? (
        <NoHistory policy={policy} isFirst={before === undefined} />
      ) : (
        <DataTable
          name={`Scheduled times and runs of ${policy.name}`}
          columns={[
            { head: 'Time', width: 'w-target' },
            { head: 'Result', width: 'w-badge' },
            { head: 'Progress', width: 'w-strip', middleOnly: true },
            { head: 'Why' },
            { head: 'Trigger', width: 'w-word' },
            { head: 'Took', width: 'w-word', end: true, middleOnly: true },
          ]}
        >
          {page.entries.map((entry) => (
            <Line entry={entry} now={now} />
          ))}
        </DataTable>
      )}
      <End policy={policy} page={page} before={before} now={now} />
    </section>
  );
});

const NoHistory = ({ policy: { schedule }, isFirst }: { policy: Policy; isFirst: boolean }) =>
  isFirst ? (
    <Empty title="Nothing is recorded of this policy yet." icon="clock">
      {schedule
        ? 'Each scheduled time is listed here, whether it made a run or not. '
        : 'It has no schedule. Each run of it is listed here. '}
      “Run now” starts one.
    </Empty>
  ) : (
    <Empty title="Nothing older is recorded here." icon="clock" />
  );

/** What comes before the oldest record, and the addresses of the other pages. */
const End = ({
  policy: { name },
  page: { entries, next },
  before,
  now,
}: {
  policy: Policy;
  page: HistoryPage;
  before: number | undefined;
  now: number;
}) => {
  const path = policyPath(name);
  const oldest = entries.at(-1);
  return (
    <>
      {next === undefined && oldest && (
        <p class="dim">
          Before <Time at={oldest.at} now={now} show="exact" /> nothing is recorded: the results of earlier
          times are not known.
        </p>
      )}
      {(before !== undefined || next !== undefined) && (
        <nav class="pager" aria-label="Pages of the history">
          {before !== undefined && <a href={path}>Newest</a>}
          {next !== undefined && <a href={pathWith(path, { before: String(next) })}>Older</a>}
        </nav>
      )}
    </>
  );
};

const Line = ({ entry, now }: { entry: HistoryEntry; now: number }) => {
  const { at, time, run } = entry;
  const id = run?.id ?? time?.run;
  const status = <Badge word={resultOf(entry)} />;
  const why = whyLine(entry);
  return (
    <tr data-key={time ? `at ${at}` : id}>
      <td data-label="Time">
        <Cut whole={isoMinute(at)}>
          <Time at={at} now={now} />
        </Cut>
      </td>
      <td data-label="Result">
        {id === undefined ? (
          status
        ) : (
          <a class="plain" href={runPath(id)} title={id}>
            {status}
            <span class="unseen"> {id}</span>
          </a>
        )}
      </td>
      <td data-label="Progress" class="middle-only">
        {run && <Progress run={run} />}
      </td>
      <td data-label="Why">
        {(why !== undefined || time?.after || time?.backfill) && (
          <Cut whole={why ?? ''}>
            {why !== undefined && <Sentence text={why} />}
            <Links time={time} />
          </Cut>
        )}
      </td>
      <td data-label="Trigger">{run?.trigger ?? (time?.after ? 'after' : 'schedule')}</td>
      <td data-label="Took" class="end middle-only">
        {run && <RunTook run={run} now={now} />}
      </td>
    </tr>
  );
};

const Links = ({ time }: { time: ScheduledTime | undefined }) => (
  <>
    {time?.after && (
      <>
        {' '}
        after <a href={runPath(time.after)}>{time.after}</a>
      </>
    )}
    {time?.backfill && (
      <>
        {' '}
        <a href={runPath(time.backfill)}>backfilled</a>
      </>
    )}
  </>
);

/** The status of its run, or why there is none: `skipped`, `missed`, `caught-up`; `unknown` for a run that is no longer stored. */
function resultOf({ time, run }: HistoryEntry): string {
  if (run) return run.status;
  if (time?.is === 'merged') return 'caught-up';
  return time === undefined || time.is === 'ran' ? 'unknown' : time.is;
}

function whyLine({ time, run }: HistoryEntry): string | undefined {
  const isSkipped = time !== undefined && time.is !== 'ran';
  if (isSkipped) return whyNoRun(time);
  if (run) return whyOf(run);
  return 'It made a run, which is no longer stored: its result is not known.';
}

function whyNoRun({ is, why, note, into }: ScheduledTime): string {
  if (is === 'merged')
    return into === undefined ? 'Caught up by a later run.' : `Caught up by the run of ${isoMinute(into)}.`;
  if (is === 'missed') return 'It was missed, and is older than "catchup" or "within" allows.';
  if (why === undefined) return 'Why is not recorded.';
  return why === 'overlap'
    ? (note ?? 'Another run was active.')
    : formatSkipCause({ why, ...(note === undefined ? {} : { note }) });
}
