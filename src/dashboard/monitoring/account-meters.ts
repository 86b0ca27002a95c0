import { Counter, Gauge, type Registry } from 'prom-client';
import { type SystemStatus, supervisorLagMs } from '../queries/system-status.ts';
import type { ReadOnce } from './read-once.ts';

/** The budget of each account of the settings, whether it is served, and whether its runs are supervised. */
export function addAccounts(status: ReadOnce<SystemStatus>, registry: Registry): void {
  const gauge = (
    name: string,
    help: string,
    value: (account: SystemStatus['accounts'][number], now: number) => number | undefined,
  ) =>
    new Gauge({
      name,
      help,
      labelNames: ['account'],
      registers: [registry],
      async collect() {
        this.reset();
        const { accounts, now } = await status.get();
        for (const account of accounts) {
          const found = value(account, now);
          if (found !== undefined) this.set({ account: account.account }, found);
        }
      },
    });
  gauge(
    'caretaker_budget_limit_requests',
    'Requests that the account has in a minute.',
    ({ limit }) => limit,
  );
  gauge(
    'caretaker_budget_left_requests',
    'Requests left in the current minute of the account, the reserve included.',
    ({ left }) => left,
  );
  gauge(
    'caretaker_budget_used_requests',
    'Requests used in the current minute of the account, by Caretaker and others.',
    ({ limit, left }) => limit - left,
  );
  gauge('caretaker_account_blocked', '1 while the account refuses access, else 0.', ({ blocked }) =>
    blocked ? 1 : 0,
  );
  gauge(
    'caretaker_account_failing_seconds',
    'Seconds for which the service has given no usable answer for the account; 0 while it answers.',
    ({ failingSince }, now) => (failingSince === undefined ? 0 : (now - failingSince) / 1000),
  );
  gauge(
    'caretaker_supervisor_lag_seconds',
    'Seconds since a process last supervised the runs of the account; 0 while it has no active runs.',
    (account, now) => {
      const lag = supervisorLagMs(account, now);
      return lag === undefined ? undefined : lag / 1000;
    },
  );
  new Counter({
    name: 'caretaker_requests_total',
    help: 'Requests that the budget of the account granted, by class; every process counts.',
    labelNames: ['account', 'class'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { account, requests } of (await status.get()).accounts) {
        for (const [name, count] of Object.entries(requests)) this.inc({ account, class: name }, count);
      }
    },
  });
}
