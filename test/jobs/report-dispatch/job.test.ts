/** The outcomes of sites whose reports are sent, with each case produced in the service. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { reportDispatch } from '../../../jobs/report-dispatch/job.ts';
import { periodOf } from '../../../jobs/report-dispatch/period.ts';
import type { Input, Item, OperationId } from '../../../src/contract/operations.ts';
import { dayIn, daysAfter } from '../../../src/dates.ts';
import type { Acting } from '../../../src/job/job.ts';
import { sourceOf } from '../../../src/job/source.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { folderWith } from '../../settings/folder.ts';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { until, type World, type WorldOptions } from '../../support/caretaker.ts';
import { quickReports } from '../../support/quick-reports.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { asPerson, justBefore } from '../acting.ts';

/** What the account contains and has sent, as any other user of the service sees it. */
const asked = <Id extends OperationId>(now: World, id: Id, input: Input<Id>) =>
  asPerson(() => now)(id, input);

/**
 * An account in which every site has its own client, with an address by the site's number; '' is no address. Reports
 * are quick.
 */
async function startAgency(addresses: readonly string[], options: WorldOptions = {}): Promise<World> {
  const now = await worldOfTest({ sites: addresses.length, before: quickReports, ...options });
  const { clients } = await asked(now, 'listClients', {});
  await asked(now, 'deleteClients', { body: { ids: clients.map(({ id }) => id) } });
  for (const [at, siteId] of now.sandbox.siteIds().entries()) {
    const email = addresses[at] ?? '';
    const client = {
      first_name: 'Ada',
      last_name: 'Berg',
      company_name: `Company ${at + 1}`,
      site_ids: [siteId],
    };
    await asked(now, 'createClient', { body: { client: { ...client, ...(email === '' ? {} : { email }) } } });
  }
  return now;
}

/** Reports that take as long as usual: their tasks are still active when something else happens. */
const asUsual: WorldOptions = { before: async () => {} };

const aReportPolicy = (options: object = {}, changes: Partial<Policy> = {}): Policy =>
  aPolicy({
    name: 'reports',
    job: 'report-dispatch',
    options: reportDispatch.options.parse({
      template: { name: 'Monthly care' },
      period: 'last_week',
      ...options,
    }),
    ...changes,
  });

/** Fires the policy and returns the outcome of each site, by its number. */
async function dispatch(now: World, policy: Policy = aReportPolicy(), only?: string[]) {
  const run = await now.ended(await now.fire(policy, only));
  return { run, ...(await outcomesOf(now, run.id)) };
}

async function outcomesOf(now: World, run: string) {
  const targets = (await now.targets(run)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return {
    targets,
    reasons: targets.map(({ reason }) => reason),
    first: targets.find(({ id }) => id === 'site-0001'),
  };
}

const reportsOf = async (now: World, site = 'site-0001'): Promise<Item<'listReports'>[]> => {
  const { reports } = await asked(now, 'listReports', { filters: { site_id: { eq: site } } });
  const { start, end } = periodOf('last_week', now.clock.now(), 'UTC');
  return reports.filter((one) => one.type === 'one_time' && one.start_date === start && one.end_date === end);
};
const recipients = (report: Item<'listReports'> | undefined) =>
  report?.email?.recipients?.map(({ email }) => email);
const lastWeek = (now: World) => periodOf('last_week', now.clock.now(), 'UTC');
/** Requests a report as another user of the account. */
async function makeReport(
  now: World,
  days = lastWeek(now),
  template = 'Monthly care',
  site_id = 'site-0001',
) {
  const { report_templates } = await asked(now, 'listReportTemplates', {});
  const template_id = report_templates.find(({ name }) => name === template)?.id ?? '';
  const period = { start_date: days.start, end_date: days.end };
  const report = { site_id, timezone: 'UTC', ...period, template_id };
  await asked(now, 'createReport', { body: { report } });
}
/** Changes the service's responses to these operations, as text. */
function changing(now: World, operations: readonly OperationId[], change: (text: string) => string): void {
  around(now.caretaker.link('default').client, 'call', async (call, operation) => {
    const answer = await call();
    return (operations.includes(operation) ? JSON.parse(change(JSON.stringify(answer))) : answer) as never;
  });
}
/** Hides in these responses the mail of the reports on the first site, and the recipients of all others. */
const hiding = (now: World, ...operations: OperationId[]): void =>
  changing(now, operations, (text) =>
    JSON.stringify(
      JSON.parse(text, (key, value) =>
        key === 'recipients'
          ? undefined
          : value?.site?.id === 'site-0001'
            ? { ...value, email: undefined }
            : value,
      ),
    ),
  );
const effects = ({ sandbox: { journal } }: World) => ({
  made: journal.effectsOf('createReport').length,
  sent: journal.effectsOf('sendReportEmail').length,
});

describe('a report', () => {
  test('is made about the previous period, sent with the texts of the policy, and followed to its delivery', async () => {
    const now = await startAgency(['ada@one.example']);

    const { reasons, first } = await dispatch(
      now,
      aReportPolicy({
        subject: '{{site.title}}: {{period.start}} to {{period.end}}',
        body: 'Dear {{client.first_name}},\n\nhere is your report.',
        attach_pdf: false,
        sender: { name: 'Reports@agency.example' },
      }),
    );

    const [report, ...more] = await reportsOf(now);
    const { start, end } = periodOf('last_week', now.clock.now(), 'UTC');
    expect(reasons).toEqual(['done']);
    expect(first).toMatchObject({ outcome: 'succeeded', detail: `The report ${report?.id} was delivered.` });
    expect(more).toEqual([]);
    expect(report?.email).toMatchObject({
      subject: `${report?.site?.title}: ${start} to ${end}`,
      body: 'Dear Ada,\n\nhere is your report.',
      attach_pdf: false,
      sender_email: { email: 'reports@agency.example' },
      recipients: [{ email: 'ada@one.example' }],
    });
    // Neither the address nor other data of the client is stored in the record.
    expect(JSON.stringify(first)).not.toContain('ada@one.example');
  });

  test('that was sent is not sent again, by this policy or another, and its mail is not followed again', async () => {
    const now = await startAgency(['ada@one.example', 'ben@two.example']);
    await dispatch(now);
    const before = effects(now);

    const { run, reasons, first } = await dispatch(
      now,
      aReportPolicy({ subject: 'Another' }, { name: 'other' }),
    );

    expect(reasons).toEqual(['already-done', 'already-done']);
    expect(run).toMatchObject({ status: 'succeeded', counts: { skipped: 2 } });
    expect(first?.detail).toMatch(
      /^The report report-\d+ was sent to ada@one\.example on \d{4}-\d\d-\d\d\.$/,
    );
    expect(effects(now)).toEqual(before);
    // Sites, templates and one of them, sender emails, reports, tasks: no request for a single site.
    expect(run.requests).toBe(6);

    // It is sent to recipients who have not received it, and is not made again for that.
    const more = aReportPolicy({ recipients: ['ADA@one.example', 'boss@a.example'] });
    expect((await dispatch(now, more, ['site-0001'])).reasons).toEqual(['done']);
    expect((await reportsOf(now)).map(recipients)).toEqual([['ada@one.example', 'boss@a.example']]);
    expect(effects(now)).toEqual({ made: 2, sent: 3 });
  });

  test('of another template, recognised by its subject, is another report if the policy distinguishes them', async () => {
    const now = await startAgency(['ada@one.example']);
    const short = { template: { name: 'Short summary' }, dedupe_by: 'subject' };
    await dispatch(now, aReportPolicy({ subject: 'Care' }));

    const { reasons } = await dispatch(now, aReportPolicy(short));
    const again = await dispatch(now, aReportPolicy(short));

    expect(reasons).toEqual(['done']);
    expect(again.reasons).toEqual(['already-done']);
    expect((await reportsOf(now)).map(({ email }) => email?.subject).sort()).toEqual([
      'Care',
      'Your website in short',
    ]);
  });

  test('is archived before it is sent; if archiving fails it is not sent, and the next run continues with it', async () => {
    const now = await startAgency(['ada@one.example']);
    const folder = folderWith({ 'a-file': '' });
    const wrong = join(folder, 'a-file');

    const failed = await dispatch(now, aReportPolicy({ archive_dir: wrong }));
    expect(failed.first).toMatchObject({ outcome: 'failed', reason: 'archive-failed' });
    expect(failed.first?.detail).toContain('a file exists in place of a folder');
    expect(effects(now)).toEqual({ made: 1, sent: 0 });

    // The first download is interrupted, the next one is compressed.
    now.sandbox.failNext({ operation: 'downloadReport', times: 1 }, 'truncate');
    now.sandbox.failNext({ operation: 'downloadReport', times: 1 }, 'gzip');
    const { reasons, first } = await dispatch(now, aReportPolicy({ archive_dir: folder }));
    const { start, end } = periodOf('last_week', now.clock.now(), 'UTC');
    const site = first?.label.replace('https://', '') ?? '';
    expect(reasons).toEqual(['done']);
    expect(readFileSync(join(folder, 'Company 1', site, `${start}_${end}.pdf`), 'latin1')).toMatch(/^%PDF-/);
    expect(effects(now)).toEqual({ made: 1, sent: 1 });
  });
});

describe('a mail', () => {
  test('that is not delivered fails for its address only; sites without recipients are skipped', async () => {
    const now = await startAgency([
      'ada@one.example',
      'bounce@two.example',
      'fail@three.example',
      '',
      'stuck@five.example',
    ]);
    const freed = await asked(now, 'listClients', { filters: { company_name: { contains: 'Company 1' } } });
    await asked(now, 'updateClient', {
      client_id: freed.clients[0]?.id ?? '',
      body: { client: { site_ids: [] } },
    });

    const policy = aReportPolicy({ delivery_timeout: '1m' });
    const { run, targets } = await dispatch(now, policy);

    expect(targets.map(({ outcome, reason, detail }) => [outcome, reason, detail])).toEqual([
      ['skipped', 'not-eligible', 'The site has no client.'],
      ['failed', 'undelivered', 'bounce@two.example: the mail bounced.'],
      ['failed', 'undelivered', 'fail@three.example: the mail could not be sent.'],
      ['skipped', 'not-eligible', 'The client of the site has no email address.'],
      ['failed', 'timeout', 'stuck@five.example: not delivered within 1m.'],
    ]);

    // It is not sent there again automatically; the failure still counts.
    const before = effects(now);
    const second = await dispatch(now, policy);
    expect(second.targets[1]).toMatchObject({ outcome: 'failed', reason: 'undelivered' });
    expect(second.targets[1]?.detail).toMatch(/was sent to bounce@two\.example on .*: the mail bounced\.$/);
    expect(second.reasons[4]).toBe('already-done');
    expect(effects(now)).toEqual(before);

    // A retry sends it again.
    const retried = await now.ended(
      await now.caretaker.engine.retry(run.id, { which: { reasons: ['all'] } }),
    );
    const { targets: again } = await outcomesOf(now, retried.id);
    expect(again.map(({ id, reason }) => [id, reason])).toEqual([
      ['site-0002', 'undelivered'],
      ['site-0003', 'undelivered'],
      ['site-0005', 'already-done'],
    ]);
    expect(effects(now)).toEqual({ made: before.made, sent: before.sent + 2 });
    expect(retried.scheduledFor).toBe(run.scheduledFor);
  });

  test('that bounced is reported as bounced, however long another mail takes, and also after the last sweep', async () => {
    const now = await startAgency(['bounce@one.example', 'bounce@two.example']);
    const soon = { delivery_timeout: '1m' };
    const both = aReportPolicy({ ...soon, recipients: ['client', 'stuck@two.example'] });
    expect((await dispatch(now, both, ['site-0001'])).first).toMatchObject({
      outcome: 'failed',
      reason: 'undelivered',
      detail: 'bounce@one.example: the mail bounced. stuck@two.example: not delivered within 1m.',
    });

    // Lists are delayed: they show the mail as in progress as long as it is followed.
    changing(now, ['listReports'], (text) => text.replaceAll('"bounced"', '"sent"'));
    const { targets } = await dispatch(now, aReportPolicy(soon), ['site-0002']);
    expect(targets).toMatchObject([
      { outcome: 'failed', reason: 'undelivered', detail: 'bounce@two.example: the mail bounced.' },
    ]);
  });

  test('of a report that is deleted before the delivery is not reported as delivered', async () => {
    const now = await startAgency(['stuck@one.example']);
    const run = await now.fire(aReportPolicy({ delivery_timeout: '1m' }));
    await until(now, () => effects(now).sent === 1);
    const [report] = await reportsOf(now);
    justBefore(now, 'showReport', () => asked(now, 'deleteReport', { report_id: report?.id ?? '' }));
    await now.ended(run);
    const { first } = await outcomesOf(now, run.id);
    expect(first).toMatchObject({ outcome: 'failed', reason: 'timeout' });
    expect(first?.detail).toBe(`The report ${report?.id} was deleted before its mail was delivered.`);
  });

  test('that lists do not show is looked up in the report itself, and not sent again', async () => {
    const now = await startAgency(['ada@one.example', 'ben@two.example']);
    hiding(now, 'listReports');
    await dispatch(now);
    const before = effects(now);

    const { reasons } = await dispatch(now);

    expect(reasons).toEqual(['already-done', 'already-done']);
    expect(effects(now)).toEqual(before);
  });

  test('that the service never shows is not reported as delivered', async () => {
    const now = await startAgency(['ada@one.example', 'ben@two.example']);
    hiding(now, 'listReports', 'showReport');
    const { targets } = await dispatch(now, aReportPolicy({ delivery_timeout: '1m' }));
    expect(targets.map(({ outcome, reason, detail }) => [outcome, reason, detail])).toEqual(
      ['ada@one.example', 'ben@two.example'].map((address) => [
        'failed',
        'unconfirmed',
        `${address}: the service did not show the status of the mail within 1m.`,
      ]),
    );
    expect(effects(now)).toEqual({ made: 2, sent: 2 });
  });

  test('that the service never shows may have been sent by another user, and is not sent by us', async () => {
    const now = await startAgency(['ada@one.example', 'ben@two.example']);
    for (const site of now.sandbox.siteIds()) {
      await makeReport(now, lastWeek(now), 'Monthly care', site);
      await until(now, async () => (await reportsOf(now, site)).length === 1);
    }
    const before = effects(now);
    hiding(now, 'listReports', 'showReport');

    const { targets } = await dispatch(now);

    expect(targets.map(({ outcome, reason }) => [outcome, reason])).toEqual(
      Array(2).fill(['failed', 'unknown-effect']),
    );
    expect(targets[0]?.detail).toMatch(
      /^The service does not show whom the report report-\d+ was sent to; it may have been sent to ada@one\.example, and nothing was sent now\.$/,
    );
    expect(effects(now)).toEqual(before);
  });

  test("that was not delivered is sent to the client's current address, once", async () => {
    const now = await startAgency(['ada@one.example', 'bounce@two.example']);

    const { targets } = await dispatch(
      now,
      aReportPolicy({ recipients: ['bounce@old.example'], resend_to_client: true }),
    );

    const [first, second] = targets;
    expect(first).toMatchObject({ outcome: 'succeeded', reason: 'done' });
    expect(first?.detail).toContain("It went to the client's address on file instead.");
    expect(first?.findings).toEqual([
      { severity: 'warning', about: first?.label, message: 'bounce@old.example: the mail bounced.' },
    ]);
    expect(second).toMatchObject({
      outcome: 'failed',
      reason: 'undelivered',
      detail: 'bounce@old.example: the mail bounced. bounce@two.example: the mail bounced.',
    });
    expect(effects(now)).toEqual({ made: 2, sent: 4 });
  });

  test('has the report on its own site, also when a list shows the reports on others too', async () => {
    const now = await startAgency(['ada@one.example', 'eve@two.example']);
    around(now.caretaker.link('default').client, 'call', async (send, operation, input) => {
      const { site_id, ...filters } = ('filters' in input && (input.filters as Record<string, object>)) || {};
      if (operation !== 'listReports' || !site_id) return send();
      return (await asked(now, 'listReports', { ...input, filters } as Input<'listReports'>)) as never;
    });

    const { reasons } = await dispatch(now);

    expect(reasons).toEqual(['done', 'done']);
    expect((await now.sandbox.site('site-0001').reports()).at(-1)?.sentTo).toEqual(['ada@one.example']);
    expect((await now.sandbox.site('site-0002').reports()).at(-1)?.sentTo).toEqual(['eve@two.example']);
  });

  test('that was not delivered is not sent to an address that the client has given up by then', async () => {
    const now = await startAgency(['ada@one.example']);
    const { clients } = await asked(now, 'listClients', {});
    const client_id = clients[0]?.id ?? '';
    // The job takes the address on file. The client changes it before the mail is sent, as during an outage.
    around(now.caretaker.link('default').client, 'call', async (send, operation) => {
      const answer = await send();
      if (operation === 'showClient') {
        await asked(now, 'updateClient', { client_id, body: { client: { email: 'eve@one.example' } } });
        now.clock.leap(60_000);
      }
      return answer as never;
    });

    const { first } = await dispatch(
      now,
      aReportPolicy({ recipients: ['bounce@old.example'], resend_to_client: true }),
    );

    expect(recipients((await reportsOf(now))[0])).toEqual(['bounce@old.example']);
    expect(first).toMatchObject({
      outcome: 'skipped',
      reason: 'changed-since-plan',
      detail:
        "bounce@old.example: the mail bounced. It was then to go to ada@one.example, and the client's address is now eve@one.example. Some of its steps had already been done.",
    });
  });

  test('is reported for each address: one that the service rejects fails, the others receive it', async () => {
    const now = await startAgency(['ada@one.example', '']);
    const policy = aReportPolicy({});
    // The service may reject an address that we consider valid.
    const options = { ...(policy.options as object), recipients: ['client', 'root@localhost'] };
    const { targets } = await dispatch(now, { ...policy, options });
    const says = 'root@localhost: refused by the service: "root@localhost" is no e-mail address.';
    expect(targets.map(({ outcome, reason, detail }) => [outcome, reason, detail])).toEqual([
      ['failed', 'rejected', says],
      ['failed', 'rejected', says],
    ]);
    expect((await reportsOf(now)).map(recipients)).toEqual([['ada@one.example']]);
    expect((await reportsOf(now, 'site-0002')).map(recipients)).toEqual([[]]);
  });
});

describe('a missing prerequisite is named before anything is made:', () => {
  test('a template before the run lists anything, a sender email, a period that is over; and the run fails', async () => {
    const now = await startAgency(['ada@one.example']);
    const unknown = await now.ended(await now.fire(aReportPolicy({ template: 'Monthly care' })));
    expect([unknown.status, unknown.counts.planned]).toEqual(['failed', 0]);
    expect(unknown.detail).toMatch(
      /no report template with the id "Monthly care".*write \{ name: "Monthly care" \}/,
    );

    const end = daysAfter(dayIn('UTC', now.clock.now()), 1);
    const policy = aReportPolicy({ sender: { name: 'care@unpublished.example' } });
    const options = { ...(policy.options as object), period: { start: '2026-01-01', end } };
    const { run, first, targets } = await dispatch(now, { ...policy, options });

    expect(first).toMatchObject({ outcome: 'skipped', reason: 'not-eligible' });
    // The cause is one error, and not one for each site.
    expect(first?.detail).toBe('What every report needs is missing: see "prerequisites".');
    expect(run.status).toBe('failed');
    const cause = {
      outcome: 'failed',
      reason: 'not-eligible',
      detail:
        'The sender email care@unpublished.example cannot be used: its DKIM is not verified, its return path is not verified. ' +
        `The period of the report ends on ${end}, which is not over yet.`,
    };
    expect(targets.find(({ id }) => id === 'prerequisites')).toMatchObject(cause);
    const single = await now.ended(await now.fire(policy, ['site-0001']));
    expect([single.status, single.counts.failed]).toEqual(['failed', 1]);
    // A retry would be about every site of the policy.
    await expect(now.caretaker.engine.retry(single.id, { which: { reasons: ['all'] } })).rejects.toThrow(
      /was for single targets/,
    );
    expect(effects(now)).toEqual({ made: 0, sent: 0 });
  });

  test('and once it is fixed, a retry sends what the run could not', async () => {
    const now = await startAgency(['ada@one.example', 'bo@two.example']);
    const address = 'new@agency.example';
    const { sender_email } = await asked(now, 'createSenderEmail', {
      body: { sender_email: { email: address, name: 'New' } },
    });
    const { run } = await dispatch(now, aReportPolicy({ sender: { name: address } }));
    expect(run.counts).toMatchObject({ failed: 1, skipped: 2 });
    now.clock.leap(3_600_000);
    await asked(now, 'refreshSenderEmail', { sender_email_id: sender_email.id });

    const retried = await now.ended(
      await now.caretaker.engine.retry(run.id, { which: { reasons: ['all'] } }),
    );

    expect(retried).toMatchObject({ status: 'succeeded', trigger: 'retry', retryOf: run.id });
    expect(await now.reasons(retried)).toEqual({ 'site-0001': 'done', 'site-0002': 'done' });
    expect(effects(now)).toEqual({ made: 2, sent: 2 });
  });

  test('all or some snapshots of the period', async () => {
    const now = await startAgency(['ada@one.example', '']);
    const [oldest] = now.sandbox.site('site-0001').state().snapshots;
    const begins = oldest?.createdAt.slice(0, 10) ?? '';
    // The site is older than its snapshots.
    const about = (from: number, to: number) => ({
      period: { start: daysAfter(begins, from), end: daysAfter(begins, to) },
    });

    const none = await dispatch(now, aReportPolicy(about(-20, -10)));
    const some = await dispatch(now, aReportPolicy(about(-1, 5)));

    expect(none.first).toMatchObject({ outcome: 'skipped', reason: 'not-eligible' });
    expect(none.first?.detail).toBe(
      `The site has no successful snapshot of ${daysAfter(begins, -20)} to ${daysAfter(begins, -10)}.`,
    );
    expect(some.first?.reason).toBe('not-eligible');
    expect(some.first?.detail).toContain(
      'The site has no snapshots that cover these days. Its successful snapshots of',
    );
    expect(effects(now)).toEqual({ made: 0, sent: 0 });
    const asked = now.sandbox.journal.requests.filter(({ operation }) => operation === 'listSiteSnapshots');
    // Once for each period; a slow answer is asked for again.
    expect(new Set(asked.map(({ query }) => query)).size).toBe(2);
  });
});

describe('a report that is being made while the run is planned', () => {
  test('because an earlier run timed out, is followed and sent, and no second one is made', async () => {
    const now = await startAgency(['ada@one.example'], asUsual);
    const early = await dispatch(
      now,
      aReportPolicy({}, { timeout: { targetMs: 30_000, runMs: 28_800_000 } }),
    );
    expect(early.first).toMatchObject({ outcome: 'failed', reason: 'timeout' });
    expect(early.first?.detail).toMatch(/^The task task-\d+ was still under way\.$/);

    const { reasons } = await dispatch(now);

    expect(reasons).toEqual(['done']);
    expect((await reportsOf(now)).map(recipients)).toEqual([['ada@one.example']]);
    expect(effects(now)).toEqual({ made: 1, sent: 1 });
  });

  test.for(['after', 'before'] as const)(
    'about another period, by any user, is left alone, and ours is made: it ends %s the turn of its site',
    async (ends) => {
      const now = await startAgency(['ada@one.example'], asUsual);
      const { start, end } = lastWeek(now);
      await makeReport(now, { start: daysAfter(start, 1), end });
      // The plan lists the sites last.
      if (ends === 'before') justBefore(now, 'listSites', () => now.clock.leap(120_000));

      const { reasons } = await dispatch(now);

      expect(reasons).toEqual(['done']);
      expect((await reportsOf(now)).map(recipients)).toEqual([['ada@one.example']]);
      expect(effects(now)).toEqual({ made: 2, sent: 1 });
    },
  );

  test('about the same period, by another user, is sent, and left alone only if subjects distinguish reports', async () => {
    const now = await startAgency(['ada@one.example', 'ben@two.example'], asUsual);
    for (const site of now.sandbox.siteIds()) await makeReport(now, lastWeek(now), 'Short summary', site);

    // Nothing shows that it is a different one.
    const { first } = await dispatch(now, aReportPolicy(), ['site-0001']);

    const reports = await reportsOf(now);
    expect(first?.reason).toBe('done');
    expect(first?.detail).toBe(
      `The report ${reports[0]?.id}, which was already in the account, was delivered.`,
    );
    expect(reports.map(recipients)).toEqual([['ada@one.example']]);
    expect(effects(now)).toEqual({ made: 2, sent: 1 });

    const bySubject = aReportPolicy({ dedupe_by: 'subject', subject: 'Care' });
    expect((await dispatch(now, bySubject, ['site-0002'])).reasons).toEqual(['done']);
    expect((await reportsOf(now, 'site-0002')).map(recipients).sort()).toEqual([[], ['ben@two.example']]);
  });

  test('and was sent by another user before it was found, is not sent again', async () => {
    const now = await startAgency(['ada@one.example'], asUsual);
    // It is being made when the plan lists tasks; after its end was noticed, another user sends it first.
    let [made, sent] = [false, false];
    around(now.caretaker.link('default').client, 'call', async (call, operation) => {
      if (operation === 'listTasks' && !made) {
        made = true;
        await makeReport(now);
      } else if (operation === 'listReports' && made && !sent) {
        sent = true;
        const [report] = await reportsOf(now);
        const { sender_emails } = await asked(now, 'listSenderEmails', {
          filters: { status: { eq: 'verified' } },
        });
        const mail = { recipients: ['ada@one.example'], sender_email: { id: sender_emails[0]?.id ?? '' } };
        await asked(now, 'sendReportEmail', { report_id: report?.id ?? '', body: { send_email: mail } });
      }
      return call();
    });

    const { reasons } = await dispatch(now);
    expect(reasons).toEqual(['already-done']);
    expect(effects(now)).toEqual({ made: 1, sent: 1 });
  });

  test('by a task that is cancelled is made again', async () => {
    const now = await startAgency(['ada@one.example']);
    const task_id = now.sandbox.startTask({
      type: 'report',
      input: [{ id: 'site-0001' }],
      takesMs: 86_400_000,
    });
    const run = await now.fire(aReportPolicy());
    await until(now, async () => (await now.targets(run))[0]?.state === 'following');
    await asked(now, 'cancelTask', { task_id });

    await now.ended(run);
    expect(Object.values(await now.reasons(run))).toEqual(['done']);
    expect(effects(now)).toEqual({ made: 1, sent: 1 });
  });
});

describe('a lost answer', () => {
  const intent = { operation: 'createReport', at: Date.parse('2026-11-01T08:00:00Z') };
  const mailing = {
    facts: {},
    templateId: 't',
    senderId: 's',
    scope: 't',
    recipients: ['a@x.example'],
    to: ['a@x.example'],
  };
  const reconcile = (state: object, found: { tasks?: object[]; reports?: object[]; report?: object }) =>
    reportDispatch.reconcile(
      {
        api: { showReport: async () => ({ report: found.report }) },
        async *all(list: 'listTasks' | 'listReports') {
          yield* (list === 'listTasks' ? found.tasks : found.reports) ?? [];
        },
        serviceTime: async (at: number) => ({ earliest: at - 1_000, latest: at + 1_000 }),
        effects: { claim: async () => true, belongsToOther: async () => false },
        once: {
          claim: async () => ({ isOurs: true, run: 'r', target: 'site-1', at: intent.at }),
          note: async () => undefined,
          holder: async () => undefined,
          results: async (keys: string[]) => keys.map(() => undefined),
        },
        target: { id: 'site-1', label: 'https://one.example' },
        options: aReportPolicy({ period: 'last_month' }).options,
        runContext: { policy: 'reports', at: intent.at, timezone: 'UTC' },
        state: { ...mailing, ...state },
        now: intent.at,
      } as unknown as Acting<never, never>,
      intent,
    );

  test('is waited for while an active task does not show its site: it may be making the report', async () => {
    const task = (status: string) => ({ id: 't-1', status, input: { sites: [] } });
    expect(await reconcile({ step: 'make' }, { tasks: [task('running')] })).toMatchObject({ is: 'waiting' });
    expect(await reconcile({ step: 'make' }, { tasks: [task('completed')] })).toMatchObject({
      is: 'waiting',
    });
    expect(await reconcile({ step: 'make' }, { tasks: [task('failed')] })).toMatchObject({ is: 'absent' });
    expect(await reconcile({ step: 'make' }, { tasks: [] })).toMatchObject({ is: 'absent' });
  });

  test('is resolved by adopting the report itself when its task is not listed, with any subject', async () => {
    const email = { subject: 'Anything', recipients: [] };
    const [start_date, end_date] = ['2026-10-01', '2026-10-31'];
    const reports = [{ id: 'r', site: { id: 'site-1' }, start_date, end_date, email }];
    expect(await reconcile({ step: 'make' }, { reports })).toMatchObject({
      is: 'next',
      state: { step: 'send', report: { id: 'r' } },
    });
  });

  test('leaves a mail unknown when the service does not show recipients', async () => {
    const state = { step: 'send', report: { id: 'r', madeAt: 0 } };
    expect(await reconcile(state, { report: { id: 'r' } })).toMatchObject({ is: 'unknown' });
    expect(await reconcile(state, { report: { id: 'r', email: { recipients: [] } } })).toEqual({
      is: 'absent',
    });
  });

  test('does not confuse a mail that is sent again with the previous one', async () => {
    const before = [{ email: 'a@x.example', status: 'sent', sent_at: '2026-10-02T08:00:00.000Z' }];
    const state = { step: 'send', before, report: { id: 'r', madeAt: 0 } };
    const sentAt = (sent_at: string) => ({
      report: { id: 'r', email: { recipients: [{ email: 'A@x.example', status: 'sent', sent_at }] } },
    });
    expect(await reconcile(state, sentAt('2026-10-02T08:00:00Z'))).toEqual({ is: 'absent' });
    expect(await reconcile(state, sentAt('2026-11-01T08:00:01Z'))).toMatchObject({ is: 'following' });
  });
});

describe('when the service', () => {
  test('fails to make a report, the site fails with the step that failed', async () => {
    const now = await startAgency(['ada@one.example'], { faults: { 'failing-tasks': 1 } });
    const { first } = await dispatch(now);
    expect(first).toMatchObject({ outcome: 'failed', reason: 'task-failed' });
    expect(first?.detail).toMatch(/^At the step \w+: The step \w+ failed\.$/);
    expect(effects(now)).toEqual({ made: 1, sent: 0 });
  });

  test('cancels the task of our report, or loses the report, for another user, the site fails or is gone', async () => {
    const now = await startAgency(['ada@one.example', 'ben@two.example'], asUsual);
    around(now.caretaker.link('default').client, 'call', async (call, operation, input) => {
      if (operation === 'sendReportEmail' && 'report_id' in input)
        await asked(now, 'deleteReport', { report_id: input.report_id });
      const answer = await call();
      if (operation === 'createReport' && JSON.stringify(input).includes('site-0001'))
        await asked(now, 'cancelTask', { task_id: (answer as { task: { id: string } }).task.id });
      return answer;
    });
    const { targets } = await dispatch(now);
    expect(targets).toMatchObject([
      { outcome: 'failed', reason: 'task-cancelled' },
      { outcome: 'skipped', reason: 'gone' },
    ]);
    expect(targets[1]?.detail).toMatch(/^The report report-\d+ was deleted before it was sent\.$/);
    expect(effects(now).sent).toBe(0);
  });

  test('made another report with the task found for a lost answer, the site ends as unknown and the next run sends', async () => {
    const now = await startAgency(['ada@one.example']);
    // So long that the task is still in progress when the request is sent again, however slow the machine.
    now.sandbox.mail.takes({ reportMs: 3_600_000, deliveryMs: 1_000 });
    const retry = { ...aPolicy().retry, delayMs: 1_000 };
    const { report_templates } = await asked(now, 'listReportTemplates', {});
    const { start, end } = periodOf('last_week', now.clock.now(), 'UTC');
    // Another user requests a report on the site just after our request is lost.
    let made = false;
    around(now.caretaker.link('default').client, 'call', async (call, operation) => {
      if (operation !== 'createReport' || made) return call();
      made = true;
      now.sandbox.failNext({ operation: 'createReport' }, 'error-before');
      const lost: unknown = await (call() as Promise<unknown>).catch((error: unknown) => error);
      const template_id = report_templates.find(({ name }) => name === 'Monthly care')?.id ?? '';
      const days = { start_date: daysAfter(start, 1), end_date: end };
      await asked(now, 'createReport', {
        body: { report: { site_id: 'site-0001', timezone: 'UTC', ...days, template_id } },
      });
      throw lost;
    });

    const { first } = await dispatch(now, aReportPolicy({}, { retry }));
    expect(first).toMatchObject({ outcome: 'failed', reason: 'unknown-effect' });
    expect(first?.detail).toContain('The next run makes this one');
    now.sandbox.mail.takes({ reportMs: 1_000, deliveryMs: 1_000 });
    const { reasons } = await dispatch(now);
    expect(reasons).toEqual(['done']);
    expect((await reportsOf(now)).map(recipients)).toEqual([['ada@one.example']]);
  });

  test('does not list the report that it made, the site waits until its time limit', async () => {
    const now = await startAgency(['ada@one.example']);
    around(now.caretaker.link('default').client, 'call', async (call, operation, input) => {
      const answer: object = await call();
      const bySite = operation === 'listReports' && JSON.stringify(input).includes('site_id');
      const none = { reports: [], meta: { pagination: { totalPages: 1, totalItems: 0 } } };
      return (bySite ? { ...answer, ...none } : answer) as never;
    });
    const { first } = await dispatch(
      now,
      aReportPolicy({}, { timeout: { targetMs: 120_000, runMs: 28_800_000 } }),
    );
    expect(first).toMatchObject({
      outcome: 'failed',
      reason: 'timeout',
      detail: 'The task of the report completed, but the service does not list the report.',
    });
  });
});

test('an invalid recipient address is found when the policy is loaded, with its position', () => {
  const parsed = (...recipients: string[]) =>
    reportDispatch.options.safeParse({ template: { name: 'Monthly care' }, recipients });
  expect(parsed('client', 'ada@one.example', 'ädä@müller.example').success).toBe(true);
  for (const wrong of ['a@b', 'a@b.', 'ada', '@one.example', 'a b@one.example']) {
    const { error } = parsed('client', wrong);
    expect(error?.issues).toMatchObject([
      {
        path: ['recipients', 1],
        message: 'must be "client" or an email address such as ada@agency.example',
      },
    ]);
  }
});

test('a report costs four requests, and one more with an archive', () => {
  const { options, requestsPerTarget } = reportDispatch;
  const costOf = (more: object) => {
    const given = options.parse({ template: { name: 'Monthly care' }, ...more });
    return typeof requestsPerTarget === 'function' ? requestsPerTarget(given) : requestsPerTarget;
  };
  expect([costOf({}), costOf({ archive_dir: '/reports' })]).toEqual([4, 5]);
});

test('a misspelt variable is found when the policy is loaded', () => {
  const options = reportDispatch.options.parse({
    template: 'x',
    subject: 'Hi',
    body: 'About {{site.titel}}',
  });
  expect(
    reportDispatch.check?.(options, {
      source: sourceOf(reportDispatch, {}),
      targetMs: 7_200_000,
      filters: [],
    }),
  ).toEqual([
    {
      path: ['body'],
      message: 'There is no variable {{site.titel}}.',
      suggestion: 'did you mean site.title?',
      offset: 6,
    },
  ]);
});
