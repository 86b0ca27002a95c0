/**
 * Two runs in quick succession and a third, with a service that loses answers: one report per site and period, one mail
 * per report and address, whatever the service shows.
 */
import { expect } from 'vitest';
import { reportDispatch } from '../../../jobs/report-dispatch/job.ts';
import { periodOf } from '../../../jobs/report-dispatch/period.ts';
import type { OperationId } from '../../../src/contract/operations.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import type { FaultKind } from '../../../src/sandbox/faults.ts';
import type { SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { aPolicy, aSchedule } from '../../support/builders.ts';
import { startWorld, until, type World, type WorldOptions } from '../../support/caretaker.ts';

export let world: World;

export const OWNER = 'owner@agency.example';
export const aReportPolicy = (options: object = {}, changes: Partial<Policy> = {}): Policy =>
  aPolicy({
    name: 'reports',
    job: 'report-dispatch',
    schedule: aSchedule({ overlap: 'allow' }),
    options: reportDispatch.options.parse({
      template: { name: 'Monthly care' },
      period: 'last_week',
      recipients: [OWNER],
      delivery_timeout: '2m',
      ...options,
    }),
    ...changes,
  });

/** The effects of both operations, and for each site its reports about the period with their recipients. */
export function account() {
  const { journal } = world.sandbox;
  const { start, end } = periodOf('last_week', world.clock.now(), 'UTC');
  const reports = world.sandbox.siteIds().map((id) =>
    world.sandbox
      .site(id)
      .reports()
      .filter((report) => report.start === start && report.end === end)
      .map(({ sentTo }) => sentTo),
  );
  return {
    made: journal.effectsOf('createReport').length,
    sent: journal.effectsOf('sendReportEmail').length,
    reports,
  };
}

export const once = (sites: number) => ({ made: sites, sent: sites, reports: Array(sites).fill([[OWNER]]) });

const lost = ['reset-after', 'error-after', 'truncate', 'garbage'] as const satisfies FaultKind[];
const SITES = lost.length + 1;
export const start = async (options: WorldOptions = {}) => {
  world = await startWorld({ sites: SITES, ...options });
  return world;
};
const lose = (...operations: OperationId[]) => {
  for (const operation of operations) for (const kind of lost) world.sandbox.failNext({ operation }, kind);
};

const lags = { 'lists that are up to date': 0, 'lists that are 3 s late': 3_000 };
const clocks = {
  'the same clock': 0,
  'a clock 7 minutes behind': -7 * 60_000,
  'a clock 7 minutes ahead': 7 * 60_000,
};
const hidings: Record<string, OperationId[]> = {
  'every field': [],
  'no mails in lists': ['listReports'],
  'no mails anywhere': ['listReports', 'showReport'],
};
export const cases = Object.entries(lags).flatMap(([lag, listLagMs]) =>
  Object.entries(clocks).flatMap(([clock, clockOffsetMs]) =>
    Object.entries(hidings).map(([shows, hidden]) => ({
      lag,
      clock,
      shows,
      hidden,
      options: { listLagMs, clockOffsetMs } satisfies SandboxOptions,
    })),
  ),
);

/** The name of a case, for the title of its test. */
export const title =
  'two runs in quick succession and a third send each report once with $clock, $lag and $shows, and lost answers';

export async function sendsOnce({ hidden, options }: (typeof cases)[number]): Promise<void> {
  const now = await start(options);
  for (const operation of hidden) now.sandbox.hide(operation, 'email.recipients');
  lose('createReport', 'sendReportEmail');

  const first = await now.fire(aReportPolicy());
  await until(now, () => now.sandbox.journal.countOf('createReport') > 0);
  const second = await now.fire(aReportPolicy());
  await now.ended(first);
  await now.ended(second);
  expect(account()).toEqual(once(SITES));

  const third = await now.ended(await now.fire(aReportPolicy()));
  expect(account()).toEqual(once(SITES));
  // If the answer to a mail was lost and the service shows no mails, it is unknown whether it was sent.
  const known = hidden.length < 2 ? ['already-done'] : ['already-done', 'unknown-effect'];
  expect(new Set(Object.values(await now.reasons(third)))).toEqual(new Set(known));
}
