import { isoMinute } from '../../clock.ts';
import { bullmqVersion } from '../../queue/queues.ts';
import type { Depth } from '../../records/measurement-store.ts';
import { RECORDS_VERSION } from '../../records/migrations/migrations.ts';
import type { Presence, Vitals } from '../../records/presence-store.ts';
import type { RedisFacts } from '../../redis/facts.ts';
import { countOf } from '../../text.ts';
import { Badge } from '../components/badge.tsx';
import { BarChart } from '../components/chart.tsx';
import { useNow } from '../components/contexts.tsx';
import { Empty, NotKnown } from '../components/empty.tsx';
import { showPage } from '../components/layout.tsx';
import { bytes, Fact, number, Stat, Stats } from '../components/progress.tsx';
import { Cut, Table } from '../components/table.tsx';
import { millis, Sentence, span, Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { type AccountStatus, supervisorLagMs, systemStatusOf } from '../queries/system-status.ts';

/** The running processes, and for each account its supervisor, its budget and whether the service answers. */
export async function showSystem(c: Exchange, context: DashboardContext): Promise<Response> {
  const [{ processes, accounts, health }, queues, minutes] = await Promise.all([
    systemStatusOf(context),
    context.queues.counts(),
    context.reader.queueDepths(context.clock.now()),
  ]);
  const { servers } = health;
  const paused = health.troubles.flatMap(({ queue }) => queue ?? []);
  const slowest = Math.max(...servers.map(({ latencyMs }) => latencyMs));
  const entries = Object.values(queues);
  return showPage(
    c,
    context,
    { title: 'System', here: '/system', live: '*' },
    <>
      <section id="health" data-live>
        <div class="page-head">
          <h1>System</h1>
        </div>
        <Stats>
          <Stat
            name="Redis"
            tone={health.redis === 'up' ? 'good' : 'bad'}
            {...(servers.length > 0 ? { hint: `answers in ${millis(slowest)}` } : {})}
          >
            {health.redis === 'up' ? 'up' : 'no answer'}
          </Stat>
          <Stat name="Daemons" {...(processes.length === 0 ? { tone: 'bad' as const } : {})}>
            {number(processes.length)}
          </Stat>
          <Stat name="Active runs">{number(sum(accounts.map(({ activeRuns }) => activeRuns)))}</Stat>
          <Stat name="Entries waiting" hint={`${number(sum(entries.map(({ active }) => active)))} in work`}>
            {number(sum(entries.map(({ waiting }) => waiting)))}
          </Stat>
          <Stat name="Requests left" hint="of this minute, all accounts">
            {number(sum(accounts.map(({ left }) => left)))}
          </Stat>
        </Stats>
      </section>
      <section id="processes" data-live>
        <h2>Daemons</h2>
        {processes.length === 0 ? (
          <Empty title="No daemon is running." icon="server">
            <code>caretaker daemon</code> starts one.
          </Empty>
        ) : (
          <Table
            name="Daemons"
            columns={(column) => [
              column('Process', '', ({ host, pid }) => (
                <>
                  {host} <span class="dim">process {pid}</span>
                </>
              )),
              column('Roles', 'w-in', ({ roles }) => <Cut whole={roles.join(', ')} />),
              column('Version', 'w-word wide-only', ({ vitals }) =>
                vitals ? <span title={`Node ${vitals.node}`}>{vitals.version}</span> : <NotKnown />,
              ),
              column('Memory', 'w-word end', ({ vitals }) =>
                vitals ? (
                  <span data-moving title={`${bytes(vitals.heapBytes)} of it are objects of JavaScript`}>
                    {bytes(vitals.memoryBytes)}
                  </span>
                ) : (
                  <NotKnown />
                ),
              ),
              column('Loop lag', 'w-word end', ({ vitals }) =>
                vitals ? <Lag vitals={vitals} /> : <NotKnown />,
              ),
              column('Started', 'w-word end middle-only', ({ startedAt }) => (
                <Time at={startedAt} show="relative" />
              )),
              column('Last seen', 'w-word end', ({ seenAt }) => <Time at={seenAt} show="relative" />),
            ]}
            rows={processes}
            keyOf={({ id }) => id}
          />
        )}
      </section>
      <div class="columns">
        <section id="redis" data-live>
          <h2>Redis</h2>
          {servers.length === 0 ? (
            <p class="calm">What Redis reports is not known yet.</p>
          ) : (
            <RedisServers servers={servers} />
          )}
        </section>
        <section id="depth" data-live>
          <h2>Queues in the last hour</h2>
          <QueueDepth minutes={minutes} />
        </section>
      </div>
      <section id="accounts" data-live>
        <h2>Accounts</h2>
        <Table
          name="Accounts"
          tall
          columns={(column) => [
            column('Account', '', ({ account }) => account),
            column('Service', '', Service),
            column(
              { head: 'Budget of this minute', label: 'Budget' },
              '',
              ({ left, limit }) => `${number(left)} of ${number(limit)} requests left`,
            ),
            column('Active runs', 'w-word', ({ activeRuns }) => number(activeRuns)),
            column('Supervisor', 'w-run', (status) => <Supervisor status={status} processes={processes} />),
          ]}
          rows={accounts}
          keyOf={({ account }) => account}
        />
      </section>
      <section id="entries" data-live>
        <h2>Queues</h2>
        <Table
          name="Queues"
          columns={(column) => [
            column('Queue', '', ([queue]) => queue),
            column('State', 'w-badge', ([queue]) => (
              <Badge word={paused.includes(queue) ? 'paused' : 'active'} />
            )),
            column('Waiting', 'w-name end', ([, { waiting }]) => <span data-moving>{number(waiting)}</span>),
            column('In work', 'w-name end', ([, { active }]) => <span data-moving>{number(active)}</span>),
          ]}
          rows={Object.entries(queues)}
          keyOf={([queue]) => queue}
        />
        <p class="dim">
          <a href="/queues">bull-board</a> shows the entries; <a href="/metrics">/metrics</a> is for
          Prometheus.
        </p>
      </section>
      <section id="versions">
        <h2>Versions</h2>
        <dl class="card facts">
          {versionsOf(context, servers).map(([name, version]) => (
            <Fact name={name}>{version}</Fact>
          ))}
        </dl>
      </section>
    </>,
  );
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** Of this process, and of what it works with. */
const versionsOf = (
  { control }: DashboardContext,
  servers: readonly RedisFacts[],
): readonly (readonly [string, string])[] => [
  ['Caretaker', control.version],
  ['Node', process.versions.node],
  ['Redis', [...new Set(servers.flatMap(({ version }) => version ?? []))].join(', ') || 'not known'],
  ['BullMQ', bullmqVersion()],
  ['Records', String(RECORDS_VERSION)],
];

/** Above this, timers and answers of a process are noticeably late. */
const LONG_LAG_MS = 200;

const Lag = ({ vitals: { lagMs, maxLagMs } }: { vitals: Vitals }) => (
  <span
    data-moving
    class={lagMs >= LONG_LAG_MS ? 'tone is-warn' : ''}
    title={`9 of 10 timers of the last minute were at most ${millis(lagMs)} late, the latest ${millis(maxLagMs)}`}
  >
    {millis(lagMs)}
  </span>
);

function Service({ blocked, failingSince }: AccountStatus) {
  if (blocked)
    return (
      <>
        refuses access since <Time at={blocked.since} />: <Sentence text={blocked.why} />
      </>
    );
  if (failingSince === undefined) return 'no failures';
  return (
    <>
      no answer since <Time at={failingSince} />
    </>
  );
}

const Supervisor = ({ status, processes }: { status: AccountStatus; processes: readonly Presence[] }) => {
  const { activeRuns, supervisor } = status;
  const lag = supervisorLagMs(status, useNow());
  if (supervisor === undefined) return <>{activeRuns === 0 ? 'not needed' : 'none'}</>;
  const holder = processes.find(({ id }) => id === supervisor);
  return (
    <>
      {holder ? `${holder.host}, process ${holder.pid}` : 'a command'}
      {lag !== undefined && activeRuns > 0 && <p class="dim">{span(lag)} ago</p>}
    </>
  );
};

/** How many entries the queues had in each minute of the last hour. */
const series = [
  { tone: 'series-1', word: 'actions' },
  { tone: 'series-2', word: 'plans' },
  { tone: 'series-3', word: 'deliveries' },
] as const;

const QueueDepth = ({ minutes }: { minutes: readonly { at: number; depth?: Depth }[] }) => {
  const missing = minutes.filter(({ depth }) => depth === undefined).length;
  const ends = [minutes[0], minutes[Math.floor(minutes.length / 2)], minutes.at(-1)];
  return (
    <div class="card">
      <BarChart
        name="Entries that wait or are in work, in each minute of the last hour"
        series={series}
        columns={minutes.map(({ at, depth }) => ({
          label: depth ? isoMinute(at) : `${isoMinute(at)}, not measured`,
          counts: series.map(({ word }) => depth?.[word] ?? 0),
        }))}
        axis={ends.map((one) => one && <Time at={one.at} show="exact" />)}
        unit="entries"
      />
      <p class="dim small">
        Entries that wait or are in work, once a minute.
        {missing > 0 &&
          ` ${countOf(missing, 'minute')} of the last hour ${missing === 1 ? 'was' : 'were'} not measured.`}
      </p>
    </div>
  );
};

/** How Redis is: memory, latency, what is written to disk. One block for each server. */
const RedisServers = ({ servers }: { servers: readonly RedisFacts[] }) => (
  <>
    {servers.map((facts) => (
      <dl class="card facts">
        <Fact name="Memory" moving>
          {facts.usedBytes === undefined ? <NotKnown /> : bytes(facts.usedBytes)}
          {facts.maxBytes !== undefined && (
            <div class="hint">{facts.maxBytes === 0 ? 'no limit' : `of ${bytes(facts.maxBytes)}`}</div>
          )}
        </Fact>
        <Fact name="When memory is full">
          <EvictionPolicy facts={facts} />
        </Fact>
        <Fact name="Latency" moving>
          {millis(facts.latencyMs)}
        </Fact>
        <Fact name="Append-only file">
          <AppendOnly facts={facts} />
        </Fact>
        <Fact name="Last snapshot">
          <Snapshot facts={facts} />
        </Fact>
      </dl>
    ))}
  </>
);

const EvictionPolicy = ({ facts: { maxmemoryPolicy: policy } }: { facts: RedisFacts }) => {
  if (policy === undefined) return <NotKnown />;
  return policy === 'noeviction' ? (
    <>
      writes fail <div class="hint">{policy}</div>
    </>
  ) : (
    <>
      <span class="tone is-warn">keys are evicted</span> <div class="hint">{policy}</div>
    </>
  );
};

const AppendOnly = ({ facts: { aof } }: { facts: RedisFacts }) => {
  if (!aof) return <NotKnown />;
  if (!aof.isOn) return <>off</>;
  return aof.isWritten ? <>on</> : <span class="tone is-bad">cannot be written</span>;
};

const Snapshot = ({ facts: { snapshot } }: { facts: RedisFacts }) => {
  if (!snapshot) return <NotKnown />;
  return (
    <>
      {snapshot.isWritten ? (
        <Time at={snapshot.at} show="relative" />
      ) : (
        <span class="tone is-bad">failed</span>
      )}
      <div class="hint" data-moving>
        {snapshot.changesSince.toLocaleString('en-US')} changes since
      </div>
    </>
  );
};
