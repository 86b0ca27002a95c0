import { isoMinute } from '../../clock.ts';
import type { Policy } from '../../policy/policy.ts';
import type { ScheduledTime } from '../../records/ledger-store.ts';
import { formatSkipCause } from '../../schedule/skip-cause.ts';
import { Badge } from '../components/badge.tsx';
import { Empty } from '../components/empty.tsx';
import { Pages } from '../components/filter-bar.tsx';
import { policyPath, runPath } from '../components/paths.ts';
import { Progress } from '../components/run-list.tsx';
import { RunTook, whyOf } from '../components/run-table.tsx';
import { Cut, Table } from '../components/table.tsx';
import { Sentence, Time } from '../components/time.tsx';
import { type HistoryEntry, type HistoryPage, readHistory } from '../queries/policy-history.ts';
import { policyTab } from './policy.tsx';

const PAGE = 50;

/** Every scheduled time of a policy with the result of it, and its other runs, newest first. */
export const showPolicy = policyTab('History', async (c, { reader }, policy) => {
  const before = Number(c.req.query('before')) || undefined;
  const page = await readHistory(reader, policy.name, { limit: PAGE, before });
  return (
    <section id="history" class="tab" data-live aria-label="History">
      {page.entries.length === 0 ? (
        <NoHistory policy={policy} isFirst={before === undefined} />
      ) : (
        <Table
          name={`Scheduled times and runs of ${policy.name}`}
          columns={(column) => [
            column('Time', 'w-target', ({ at }) => (
              <Cut whole={isoMinute(at)}>
                <Time at={at} />
              </Cut>
            )),
            column('Result', 'w-badge', Result),
            column('Progress', 'w-strip middle-only', ({ run }) => run && <Progress run={run} />),
            column('Why', '', WhyCell),
            column(
              'Trigger',
              'w-word',
              ({ run, time }) => run?.trigger ?? (time?.after ? 'after' : 'schedule'),
            ),
            column('Took', 'w-word end middle-only', ({ run }) => run && <RunTook run={run} />),
          ]}
          rows={page.entries}
          keyOf={({ at, time, run }) => (time ? `at ${at}` : (run?.id ?? ''))}
        />
      )}
      <End policy={policy} page={page} before={before} />
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
}: {
  policy: Policy;
  page: HistoryPage;
  before: number | undefined;
}) => {
  const path = policyPath(name);
  const oldest = entries.at(-1);
  return (
    <>
      {next === undefined && oldest && (
        <p class="dim">
          Before <Time at={oldest.at} show="exact" /> nothing is recorded: the results of earlier times are
          not known.
        </p>
      )}
      <Pages of="the history" path={path} given={{}} by="before" at={before} next={next} isByTime />
    </>
  );
};

function Result(entry: HistoryEntry) {
  const id = entry.run?.id ?? entry.time?.run;
  const status = <Badge word={resultOf(entry)} />;
  if (id === undefined) return status;
  return (
    <a class="plain" href={runPath(id)} title={id}>
      {status}
      <span class="unseen"> {id}</span>
    </a>
  );
}

function WhyCell(entry: HistoryEntry) {
  const { time } = entry;
  const why = whyLine(entry);
  if (why === undefined && !time?.after && !time?.backfill) return null;
  return (
    <Cut whole={why ?? ''}>
      {why !== undefined && <Sentence text={why} />}
      <Links time={time} />
    </Cut>
  );
}

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

/**
 * The status of its run, or why there is none: `skipped`, `missed`, `caught-up`; `unknown` for a run that is no
 * longer stored.
 */
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
