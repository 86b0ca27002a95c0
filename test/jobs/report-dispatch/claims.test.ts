/** One report per site and period, one mail per report and address, whatever the service shows and loses. */
import { afterEach, describe, expect, test } from 'vitest';
import { reportDispatch } from '../../../jobs/report-dispatch/job.ts';
import { periodOf } from '../../../jobs/report-dispatch/period.ts';
import type { Input, OperationId } from '../../../src/contract/operations.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import type { FaultKind } from '../../../src/sandbox/faults.ts';
import type { SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { aGate, around } from '../../support/between.ts';
import { aPolicy, aSchedule } from '../../support/builders.ts';
import { startWorld, until, type World, type WorldOptions } from '../../support/caretaker.ts';

let world: World;
afterEach(() => world.stop());

const OWNER = 'owner@agency.example';
const aReportPolicy = (options: object = {}, changes: Partial<Policy> = {}): Policy =>
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
  'two runs in quick succession and a third send each report once with $clock, $lag and $shows, and lost answers',
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
    // If the answer to a mail was lost and the service shows no mails, it is unknown whether it was sent.
    const known = hidden.length < 2 ? ['already-done'] : ['already-done', 'unknown-effect'];
    expect(new Set(Object.values(await now.reasons(third)))).toEqual(new Set(known));
  },
);

/** The recipients of each request to send a report, in order. */
function mailsAskedFor(): string[] {
  const asked: string[] = [];
  around(world.caretaker.link('default').client, 'call', async (call, operation, input) => {
    const answer = await call();
    if (operation === 'sendReportEmail')
      asked.push(...(input as Input<'sendReportEmail'>).body.send_email.recipients);
    return answer;
  });
  return asked;
}

describe('a run that ended before it received', () => {
  /** A run that is force-ended after an operation was carried out, before its answer is read. */
  async function endedAfter(operation: OperationId) {
    const gate = aGate();
    around(world.caretaker.link('default').client, 'call', async (call, id) => {
      const answer = await call();
      if (id === operation) await gate.pass();
      return answer;
    });
    const run = await world.fire(aReportPolicy());
    await gate.reached;
    await world.caretaker.engine.forceEnd(run.id);
    gate.open();
    return run;
  }

  test('the answer about its report leaves the report to the next run, which does not make it again', async () => {
    const now = await start({ sites: 1 });
    await endedAfter('createReport');

    const run = await now.ended(await now.fire(aReportPolicy()));

    expect(await now.reasons(run)).toEqual({ 'site-0001': 'done' });
    expect(account()).toEqual(once(1));
  });

  test('the answer about its mail leaves nothing to send', async () => {
    const now = await start({ sites: 1 });
    await endedAfter('sendReportEmail');

    const run = await now.ended(await now.fire(aReportPolicy()));

    expect(await now.reasons(run)).toEqual({ 'site-0001': 'already-done' });
    expect(account()).toEqual(once(1));
  });
});

describe('two policies at the same time', () => {
  test('each make and send their own report with different templates', async () => {
    const now = await start({ sites: 1 });
    const first = await now.fire(aReportPolicy());
    const other = { template: { name: 'Short summary' }, recipients: ['boss@agency.example'] };
    const second = await now.fire(aReportPolicy(other, { name: 'other' }));
    await now.ended(first);
    await now.ended(second);
    expect(account()).toEqual({
      made: 2,
      sent: 2,
      reports: [expect.arrayContaining([[OWNER], ['boss@agency.example']])],
    });
  });

  test('make one report with the same template, and each address receives it once', async () => {
    const now = await start({ sites: 1 });
    const mails = mailsAskedFor();
    const [anna, ben] = ['anna@agency.example', 'ben@agency.example'];
    const first = await now.fire(aReportPolicy({ recipients: [OWNER, anna] }));
    const second = await now.fire(aReportPolicy({ recipients: [ben, anna] }, { name: 'other' }));
    await now.ended(first);
    await now.ended(second);
    expect(mails.toSorted()).toEqual([anna, ben, OWNER]);
    expect(account()).toMatchObject({ made: 1, reports: [[expect.arrayContaining(mails)]] });
  });
});

test('a mail that was not delivered is sent once more, however many retries start at the same time', async () => {
  const now = await start({ sites: 1 });
  const mails = mailsAskedFor();
  const run = await now.ended(await now.fire(aReportPolicy({ recipients: ['bounce@agency.example'] })));
  expect(run.counts.failed).toBe(1);
  const retries = [await now.caretaker.engine.retry(run.id), await now.caretaker.engine.retry(run.id)];
  for (const retry of retries) await now.ended(retry);
  expect(mails).toEqual(['bounce@agency.example', 'bounce@agency.example']);
});

test('a report that was deleted is made and sent again', async () => {
  const now = await start({ sites: 1 });
  await now.ended(await now.fire(aReportPolicy()));
  const { client } = now.caretaker.link('default');
  const { reports } = await client.call('listReports', {}, { requestClass: 'person' });
  await client.call('deleteReport', { report_id: reports[0]?.id ?? '' }, { requestClass: 'person' });

  const run = await now.ended(await now.fire(aReportPolicy()));

  expect(await now.reasons(run)).toEqual({ 'site-0001': 'done' });
  expect(account()).toEqual({ made: 2, sent: 2, reports: [[[OWNER]]] });
});
