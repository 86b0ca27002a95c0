/** One report per site and period, one mail per report and address, whatever the service shows and loses. */
import { afterEach, describe, expect, test } from 'vitest';
import type { Input, OperationId } from '../../../src/contract/operations.ts';
import { aGate, around } from '../../support/between.ts';
import { account, aReportPolicy, cases, OWNER, once, sendsOnce, start, title, world } from './claims.ts';

afterEach(() => world.stop());

// It runs three runs to their ends, with late lists, another clock and no mails shown: only this shows that a lost answer
// never becomes a second report or mail. All combinations are in `claims.long.test.ts`.
test.each(cases.slice(14, 15))(title, sendsOnce);

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

  test('make and send one report to an address that both would send one with their own template', async () => {
    const now = await start({ sites: 1 });
    const first = await now.fire(aReportPolicy());
    const second = await now.fire(aReportPolicy({ template: { name: 'Short summary' } }, { name: 'other' }));
    const reasons = [first, second].map(async (run) => (await now.targets(await now.ended(run)))[0]?.reason);
    expect((await Promise.all(reasons)).toSorted()).toEqual(['already-done', 'done']);
    expect(account()).toEqual(once(1));
  });

  test('make a report each when only some of their recipients are the same, who are sent one', async () => {
    const now = await start({ sites: 1 });
    const mails = mailsAskedFor();
    const [anna, ben] = ['anna@agency.example', 'ben@agency.example'];
    const first = await now.fire(aReportPolicy({ recipients: [OWNER, anna] }));
    const other = { template: { name: 'Short summary' }, recipients: [anna, ben] };
    const second = await now.fire(aReportPolicy(other, { name: 'other' }));
    await now.ended(first);
    await now.ended(second);
    expect(mails.toSorted()).toEqual([anna, ben, OWNER]);
    expect(account()).toMatchObject({ made: 2 });
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
  const retries = [
    await now.caretaker.engine.retry(run.id, { which: { reasons: ['all'] } }),
    await now.caretaker.engine.retry(run.id, { which: { reasons: ['all'] } }),
  ];
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
