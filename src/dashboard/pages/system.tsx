import type { Presence } from '../../records/presence-store.ts';
import { number, Sentence, span, Table, Time } from '../components/components.tsx';
import { showPage } from '../components/layout.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { type AccountStatus, supervisorLagMs, systemStatusOf } from '../queries/system-status.ts';

/** The running processes, and for each account its supervisor, its budget and whether the service answers. */
export async function showSystem(c: Exchange, context: DashboardContext): Promise<Response> {
  const [{ processes, accounts, now }, queues] = await Promise.all([
    systemStatusOf(context),
    context.queues.counts(),
  ]);
  return showPage(
    c,
    context,
    { title: 'System', here: '/system', live: '*' },
    <>
      <h1>System</h1>
      <section id="processes" data-live>
        <h2>Daemons</h2>
        {processes.length === 0 ? (
          <p class="dim">
            None. <code>caretaker daemon</code> starts one.
          </p>
        ) : (
          <Table
            name="Daemons"
            heads={['Process', 'Roles', 'Started', 'Last seen']}
            widths={['', '', 'w-run', 'w-run']}
          >
            {processes.map((process) => (
              <ProcessRow process={process} now={now} />
            ))}
          </Table>
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
        <ul>
          {Object.entries(queues).map(([queue, { waiting, active }]) => (
            <li>
              {queue}: {number(waiting)} waiting, {number(active)} active
            </li>
          ))}
        </ul>
        <p class="dim">
          <a href="/queues">bull-board</a> shows the entries; <a href="/metrics">/metrics</a> is for
          Prometheus.
        </p>
      </section>
    </>,
  );
}

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
    <td data-label="Roles">{roles.join(', ')}</td>
    <td data-label="Started">
      <Time at={startedAt} now={now} />
    </td>
    <td data-label="Last seen">
      <Time at={seenAt} now={now} />
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
