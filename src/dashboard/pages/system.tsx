import { bullmqVersion } from '../../queue/queues.ts';
import { RECORDS_VERSION } from '../../records/migrations/migrations.ts';
import type { Presence, Vitals } from '../../records/presence-store.ts';
import type { RedisFacts } from '../../redis/facts.ts';
import { Badge } from '../components/badge.tsx';
import { Empty } from '../components/empty.tsx';
import { showPage } from '../components/layout.tsx';
import { bytes, number } from '../components/progress.tsx';
import { QueueDepth } from '../components/queue-depth.tsx';
import { RedisServers } from '../components/redis-facts.tsx';
import { Stat, Stats } from '../components/stat.tsx';
import { Cut, DataTable, Table } from '../components/table.tsx';
import { millis, Sentence, span, Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { type AccountStatus, supervisorLagMs, systemStatusOf } from '../queries/system-status.ts';

/** The running processes, and for each account its supervisor, its budget and whether the service answers. */
export async function showSystem(c: Exchange, context: DashboardContext): Promise<Response> {
  const [{ processes, accounts, health, now }, queues, minutes] = await Promise.all([
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
          <DataTable
            name="Daemons"
            columns={[
              { head: 'Process' },
              { head: 'Roles', width: 'w-in' },
              { head: 'Version', width: 'w-word', wideOnly: true },
              { head: 'Memory', width: 'w-word', end: true },
              { head: 'Loop lag', width: 'w-word', end: true },
              { head: 'Started', width: 'w-word', end: true, middleOnly: true },
              { head: 'Last seen', width: 'w-word', end: true },
            ]}
          >
            {processes.map((process) => (
              <ProcessRow process={process} now={now} />
            ))}
          </DataTable>
        )}
      </section>
      <div class="columns">
        <section id="redis" data-live>
          <h2>Redis</h2>
          {servers.length === 0 ? (
            <p class="calm">What Redis reports is not known yet.</p>
          ) : (
            <RedisServers servers={servers} now={now} />
          )}
        </section>
        <section id="depth" data-live>
          <h2>Queues in the last hour</h2>
          <QueueDepth minutes={minutes} now={now} />
        </section>
      </div>
      <section id="accounts" data-live>
        <h2>Accounts</h2>
        <Table
          name="Accounts"
          heads={['Account', 'Service', 'Budget of this minute', 'Active runs', 'Supervisor']}
          widths={['', '', '', 'w-word', 'w-run']}
        >
          {accounts.map((account) => (
            <AccountRow account={account} processes={processes} now={now} />
          ))}
        </Table>
      </section>
      <section id="entries" data-live>
        <h2>Queues</h2>
        <DataTable
          name="Queues"
          columns={[
            { head: 'Queue' },
            { head: 'State', width: 'w-badge' },
            { head: 'Waiting', width: 'w-name', end: true },
            { head: 'In work', width: 'w-name', end: true },
          ]}
        >
          {Object.entries(queues).map(([queue, { waiting, active }]) => (
            <tr data-key={queue}>
              <td data-label="Queue">{queue}</td>
              <td data-label="State">
                <Badge word={paused.includes(queue) ? 'paused' : 'active'} />
              </td>
              <td data-label="Waiting" class="end" data-moving>
                {number(waiting)}
              </td>
              <td data-label="In work" class="end" data-moving>
                {number(active)}
              </td>
            </tr>
          ))}
        </DataTable>
        <p class="dim">
          <a href="/queues">bull-board</a> shows the entries; <a href="/metrics">/metrics</a> is for
          Prometheus.
        </p>
      </section>
      <section id="versions">
        <h2>Versions</h2>
        <dl class="card facts">
          {versionsOf(context, servers).map(([name, version]) => (
            <div>
              <dt>{name}</dt>
              <dd>{version}</dd>
            </div>
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
    class={lagMs >= LONG_LAG_MS ? 'tone is-warn' : ''}
    title={`9 of 10 timers of the last minute were at most ${millis(lagMs)} late, the latest ${millis(maxLagMs)}`}
  >
    {millis(lagMs)}
  </span>
);

const ProcessRow = ({
  process: { id, host, pid, roles, startedAt, seenAt, vitals },
  now,
}: {
  process: Presence;
  now: number;
}) => (
  <tr data-key={id}>
    <td data-label="Process">
      {host} <span class="dim">process {pid}</span>
    </td>
    <td data-label="Roles">
      <Cut whole={roles.join(', ')} />
    </td>
    <td data-label="Version" class="wide-only">
      {vitals ? (
        <span title={`Node ${vitals.node}`}>{vitals.version}</span>
      ) : (
        <span class="dim">not known</span>
      )}
    </td>
    <td data-label="Memory" class="end" data-moving>
      {vitals ? (
        <span title={`${bytes(vitals.heapBytes)} of it are objects of JavaScript`}>
          {bytes(vitals.memoryBytes)}
        </span>
      ) : (
        <span class="dim">not known</span>
      )}
    </td>
    <td data-label="Loop lag" class="end" data-moving>
      {vitals ? <Lag vitals={vitals} /> : <span class="dim">not known</span>}
    </td>
    <td data-label="Started" class="end middle-only">
      <Time at={startedAt} now={now} show="relative" />
    </td>
    <td data-label="Last seen" class="end">
      <Time at={seenAt} now={now} show="relative" />
    </td>
  </tr>
);

const AccountRow = ({
  account: status,
  processes,
  now,
}: {
  account: AccountStatus;
  processes: readonly Presence[];
  now: number;
}) => {
  const { account, blocked, failingSince, limit, left, activeRuns, supervisor } = status;
  const holder = processes.find(({ id }) => id === supervisor);
  const lag = supervisorLagMs(status, now);
  return (
    <tr data-key={account}>
      <td data-label="Account">{account}</td>
      <td data-label="Service">
        {blocked ? (
          <>
            refuses access since <Time at={blocked.since} now={now} />: <Sentence text={blocked.why} />
          </>
        ) : failingSince === undefined ? (
          'no failures'
        ) : (
          <>
            no answer since <Time at={failingSince} now={now} />
          </>
        )}
      </td>
      <td data-label="Budget">
        {number(left)} of {number(limit)} requests left
      </td>
      <td data-label="Active runs">{number(activeRuns)}</td>
      <td data-label="Supervisor">
        {supervisor === undefined ? (
          activeRuns === 0 ? (
            'not needed'
          ) : (
            'none'
          )
        ) : (
          <>
            {holder ? `${holder.host}, process ${holder.pid}` : 'a command'}
            {lag !== undefined && activeRuns > 0 && <p class="dim">{span(lag)} ago</p>}
          </>
        )}
      </td>
    </tr>
  );
};
