import type { Presence } from '../../records/presence-store.ts';
import { Empty } from '../components/empty.tsx';
import { showPage } from '../components/layout.tsx';
import { number } from '../components/progress.tsx';
import { Stat, Stats } from '../components/stat.tsx';
import { Cut, DataTable, Table } from '../components/table.tsx';
import { Sentence, span, Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { type AccountStatus, supervisorLagMs, systemStatusOf } from '../queries/system-status.ts';

/** The running processes, and for each account its supervisor, its budget and whether the service answers. */
export async function showSystem(c: Exchange, context: DashboardContext): Promise<Response> {
  const [{ processes, accounts, health, now }, queues] = await Promise.all([
    systemStatusOf(context),
    context.queues.counts(),
  ]);
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
          <Stat name="Redis" tone={health.redis === 'up' ? 'good' : 'bad'}>
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
              { head: 'Roles', width: 'w-target' },
              { head: 'Started', width: 'w-name', end: true },
              { head: 'Last seen', width: 'w-name', end: true },
            ]}
          >
            {processes.map((process) => (
              <ProcessRow process={process} now={now} />
            ))}
          </DataTable>
        )}
      </section>
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
            { head: 'Waiting', width: 'w-name', end: true },
            { head: 'In work', width: 'w-name', end: true },
          ]}
        >
          {Object.entries(queues).map(([queue, { waiting, active }]) => (
            <tr data-key={queue}>
              <td data-label="Queue">{queue}</td>
              <td data-label="Waiting" class="end">
                {number(waiting)}
              </td>
              <td data-label="In work" class="end">
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
    </>,
  );
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

const ProcessRow = ({
  process: { id, host, pid, roles, startedAt, seenAt },
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
    <td data-label="Started" class="end">
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
