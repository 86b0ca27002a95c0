import {
  besideQueues,
  listQueues,
  pauseQueues,
  type QueueReport,
} from '../../control/commands/list-queues.ts';
import { MAX_FAILED } from '../../queue/queue-look.ts';
import { ask } from '../auth/caller.ts';
import { Action } from '../components/action.tsx';
import { Badge } from '../components/badge.tsx';
import { BarChart } from '../components/chart.tsx';
import { useMay } from '../components/contexts.tsx';
import { Dash, Empty } from '../components/empty.tsx';
import { showPage } from '../components/layout.tsx';
import { runPath } from '../components/paths.ts';
import { number } from '../components/progress.tsx';
import { Cut, Table } from '../components/table.tsx';
import { span, Time } from '../components/time.tsx';
import { BOARD_PATH } from '../http/board.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';

type Queue = QueueReport['queues'][number];

const purposes: Readonly<Record<string, string>> = {
  plans: 'Runs that are to be planned',
  actions: 'Targets that are to be worked on',
  deliveries: 'Notifications that are to be sent',
};

/** What each queue has and does, who works on it, what failed, and where the other targets of running runs are. */
export async function showQueues(c: Exchange, context: DashboardContext): Promise<Response> {
  const report = await ask(c, context, listQueues, {});
  const { queues, processes } = report;
  const beside = besideQueues(report);
  const active = queues.flatMap(({ queue, active_entries: all }) => all.map((one) => ({ queue, ...one })));
  const failed = queues.flatMap(({ queue, failed_entries: all }) => all.map((one) => ({ queue, ...one })));
  return showPage(
    c,
    context,
    { title: 'Queues', here: '/queues', live: '*' },
    <section>
      <div class="page-head">
        <h1>Queues</h1>
        <a href={BOARD_PATH}>Look into the entries (bull-board)</a>
      </div>
      <div id="queues" data-live>
        <QueueTable queues={queues} />
      </div>
      <div id="beside-queues" data-live>
        {beside.map((line) => (
          <p>
            {line} <a href="/runs?status=running">Running runs</a>
          </p>
        ))}
      </div>
      <section id="throughput" data-live>
        <h2>Ended in the last three hours</h2>
        <Throughput queues={queues} />
      </section>
      <section id="workers" data-live>
        <h2>Workers</h2>
        {processes.length === 0 ? (
          <Empty title="No process with the worker role is running." icon="server">
            Entries wait until <code>caretaker daemon</code> runs.
          </Empty>
        ) : (
          <Table
            name="Workers"
            columns={(column) => [
              column('Process', '', ({ host, pid }) => (
                <Cut whole={`${host}, process ${pid}`}>
                  {host} <span class="dim">process {pid}</span>
                </Cut>
              )),
              column('Version', 'w-word', ({ version }) =>
                version === null ? <Dash /> : <Cut whole={version} />,
              ),
              column('Has entries', 'w-word end', ({ entries }) => number(entries)),
            ]}
            rows={processes}
            keyOf={({ host, pid }) => `${host} ${pid}`}
          />
        )}
        {active.length > 0 && (
          <Table
            name="Entries in work"
            columns={(column) => [
              column('In work', '', (one) => <Entry one={one} />),
              column('Process', 'w-in middle-only', ({ process }) =>
                process === null ? <Dash /> : <Cut whole={process} />,
              ),
              column('Since', 'w-word end', ({ since }) => <Time at={Date.parse(since)} show="relative" />),
            ]}
            rows={active}
            keyOf={({ queue, entry }) => `active ${queue} ${entry}`}
          />
        )}
      </section>
      <section id="failed" data-live>
        <h2>Entries that failed in the last day</h2>
        {failed.length === 0 ? (
          <p class="calm">None.</p>
        ) : (
          <>
            <p class="dim">
              The last {MAX_FAILED} of each queue at most. Nothing has to be done here: what an entry was for
              is queued again, and ends with a result in its run. An entry that fails often is a fault of
              Caretaker or of Redis.
            </p>
            <Table
              name="Failed entries"
              columns={(column) => [
                column('Entry', 'w-name', (one) => <Entry one={one} />),
                column('Reason', '', ({ reason }) => <Cut whole={reason} />),
                column('When', 'w-word end', ({ at }) => <Time at={Date.parse(at)} show="relative" />),
              ]}
              rows={failed}
              keyOf={({ queue, entry }) => `failed ${queue} ${entry}`}
            />
          </>
        )}
      </section>
    </section>,
  );
}

const QueueTable = ({ queues }: { queues: readonly Queue[] }) => {
  const may = useMay()(pauseQueues.role, {});
  return (
    <Table
      name="Queues"
      columns={(column) => [
        column('Queue', '', ({ queue, paused }) => (
          <Cut whole={`${queue}: ${purposes[queue]}`}>
            {queue} {paused && <Badge word="paused" />} <span class="dim">{purposes[queue]}</span>
          </Cut>
        )),
        column('Waiting', 'w-short end', ({ waiting }) => number(waiting)),
        column('Oldest waits', 'w-word end middle-only', ({ oldest_waiting_since: at }) =>
          at === null ? <Dash /> : <Time at={Date.parse(at)} show="relative" />,
        ),
        column('Delayed', 'w-short end wide-only', ({ delayed }) => number(delayed)),
        column('Active', 'w-short end', ({ active }) => number(active)),
        column('Done in 1 h', 'w-word end middle-only', ({ last_hour: { completed } }) => number(completed)),
        column('Failed in 1 h', 'w-word end', ({ last_hour: { failed } }) => (
          <span class={failed > 0 ? 'failed' : undefined}>{number(failed)}</span>
        )),
        column('Wait', 'w-short end wide-only', ({ wait }) => <Seconds of={wait} />),
        column('Takes', 'w-short end wide-only', ({ duration }) => <Seconds of={duration} />),
        ...(may
          ? [
              column('Action', 'w-word end', ({ queue, paused }: Queue) => (
                <Action to={`/queues/${queue}/${paused ? 'resume' : 'pause'}`} of={queue}>
                  {paused ? 'Resume' : 'Pause'}
                </Action>
              )),
            ]
          : []),
      ]}
      rows={queues}
      keyOf={({ queue }) => queue}
    />
  );
};

/** The median; on hover with the value that 95 of 100 entries are below. */
const Seconds = ({ of: { median, p95 } }: { of: Queue['wait'] }) =>
  median === null || p95 === null ? (
    <Dash />
  ) : (
    <span data-moving title={`95 of the last 100 entries: at most ${brief(p95)}`}>
      {brief(median)}
    </span>
  );

const brief = (seconds: number): string =>
  seconds < 1 ? `${Math.round(seconds * 1_000)} ms` : span(seconds * 1_000);

const Entry = ({ one: { name, run } }: { one: { name: string; run: string | null } }) => (
  <Cut whole={name}>{run === null ? name : <a href={runPath(run)}>{name}</a>}</Cut>
);

const MINUTES_A_BAR = 5;

/** Entries that ended, by queue, and those that failed, in bars of five minutes. */
const Throughput = ({ queues }: { queues: readonly Queue[] }) => {
  const minutes = queues[0]?.minutes ?? [];
  const bars = Array.from(
    { length: Math.ceil(minutes.length / MINUTES_A_BAR) },
    (_, at) => at * MINUTES_A_BAR,
  );
  const sumOf = (of: Queue, from: number, what: 'completed' | 'failed') =>
    of.minutes.slice(from, from + MINUTES_A_BAR).reduce((sum, minute) => sum + minute[what], 0);
  const columns = bars.map((from) => ({
    label: minutes[from]?.at.slice(0, 16).replace('T', ' ').concat('Z') ?? '',
    counts: [
      ...queues.map((queue) => sumOf(queue, from, 'completed')),
      queues.reduce((sum, queue) => sum + sumOf(queue, from, 'failed'), 0),
    ],
  }));
  const total = columns.reduce((sum, { counts }) => sum + counts.reduce((all, one) => all + one, 0), 0);
  if (total === 0) return <p class="calm">Nothing has ended in the last three hours.</p>;
  const ends = [minutes[0], minutes[Math.floor(minutes.length / 2)], minutes.at(-1)];
  return (
    <div class="card">
      <BarChart
        name="Entries that ended, in bars of five minutes"
        series={[
          ...queues.map(({ queue }, at) => ({ tone: `series-${at + 1}`, word: queue })),
          { tone: 'failed', word: 'failed' },
        ]}
        columns={columns}
        axis={ends.map((one) => one && <Time at={Date.parse(one.at)} show="exact" />)}
        unit="entries"
      />
    </div>
  );
};
