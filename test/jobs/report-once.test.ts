/** One report for each site and its days, one mail for each report and address, whatever the service shows and loses. */
import { afterEach, expect, test } from 'vitest';
import { reportDispatch } from '../../jobs/report-dispatch.ts';
import type { OperationId } from '../../src/contract/operations.ts';
import { periodOf } from '../../src/job/period.ts';
import type { Policy } from '../../src/policy/policy.ts';
import type { FaultKind } from '../../src/sandbox/faults.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';
import { startWorld, until, type World, type WorldOptions } from '../support/caretaker.ts';

let world: World;
afterEach(() => world.stop());

const OWNER = 'owner@agency.example';
const aReportPolicy = (options: object = {}, changes: Partial<Policy> = {}): Policy =>
  aPolicy({
    name: 'reports',
    job: 'report-dispatch',
    schedule: aSchedule({ overlap: 'allow' }),
    options: reportDispatch.options.parse({
      template: 'Monthly care',
      period: 'last_week',
      recipients: [OWNER],
      delivery_timeout: '2m',
      ...options,
    }),
    ...changes,
  });

/** The effects of both operations, and for each site its reports about the days, each with whom it was sent to. */
function account() {
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

const once = (sites: number) => ({ made: sites, sent: sites, reports: Array(sites).fill([[OWNER]]) });

const lost = ['reset-after', 'error-after', 'truncate', 'garbage'] as const satisfies FaultKind[];
const SITES = lost.length + 1;
const start = async (options: WorldOptions = {}) => {
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
const cases = Object.entries(lags).flatMap(([lag, listLagMs]) =>
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

test.each(cases)(
  'two runs in quick succession and a third over a service with $clock, $lag and $shows, which loses answers',
  { timeout: 120_000 },
  async ({ hidden, options }) => {
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
    // Of a mail whose answer was lost, a service that shows no mails leaves it open whether it was sent.
    const known = hidden.length < 2 ? ['already-done'] : ['already-done', 'unknown-effect'];
    expect(new Set(Object.values(await now.reasons(third)))).toEqual(new Set(known));
  },
);
