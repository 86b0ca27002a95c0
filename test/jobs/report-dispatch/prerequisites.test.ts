/** The items that a report needs are looked up in the account, and missing ones are named. */
import { describe, expect, test } from 'vitest';
import { missingSnapshots, needsOf, snapshotsOf } from '../../../jobs/report-dispatch/prerequisites.ts';
import { GoneError, RejectedError } from '../../../src/client/errors.ts';
import type { Item } from '../../../src/contract/operations.ts';
import type { JobApi } from '../../../src/job/api.ts';

const ready = { status: 'verified', domain: { dkim: { verified: true }, return_path: { verified: true } } };
const reports = { id: 's-1', email: 'reports@a.example', ...ready };
const care = { id: 's-2', email: 'care@a.example', ...ready };

/** An account with these templates and sender emails, whose templates use the sender `own`. */
const account = (templates: object[], senders: object[], own?: string) =>
  ({
    async *all(list: string) {
      yield* list === 'listReportTemplates' ? templates : senders;
    },
    api: {
      showReportTemplate: async ({ report_template_id }: { report_template_id: string }) => {
        if (!templates.some((one) => Reflect.get(one, 'id') === report_template_id))
          throw new GoneError('showReportTemplate');
        const sender_email = own === undefined ? null : { id: own };
        return { report_template: { email: { subject: 'Hi', sender_email } } };
      },
    },
  }) as unknown as JobApi;
const monthly = { id: 't-1', name: 'Monthly' };

describe('a template', () => {
  test('is found by its id', async () => {
    const reading = account([{ id: 't-0', name: 'Other' }, monthly], [reports]);
    const needs = { template: { id: 't-1', subject: 'Hi' }, senderId: 's-1', missing: [] };
    expect(await needsOf(reading, { template: 't-1' })).toEqual(needs);
  });

  test('that does not exist is reported with those that do, or with the way to write a name', async () => {
    const reading = account([monthly, { id: 't-2', name: 'Short' }], [reports]);
    expect((await needsOf(reading, { template: 't-9' })).missing).toEqual([
      'There is no report template with the id "t-9"; existing templates: "t-1" (Monthly), "t-2" (Short).',
    ]);
    expect((await needsOf(reading, { template: 'Monthly' })).missing).toEqual([
      'There is no report template with the id "Monthly"; for the template of that name, write { name: "Monthly" }.',
    ]);
  });
});

describe('a sender email', () => {
  const missing = async (senders: object[], wanted?: string, own?: string) =>
    needsOf(account([monthly], senders, own), { template: 't-1', sender: wanted });

  test('is the requested one, or that of the template, or the only one that is ready', async () => {
    expect(await missing([reports, care], 's-2', 's-1')).toMatchObject({ senderId: 's-2' });
    expect(await missing([reports, care], undefined, 's-2')).toMatchObject({ senderId: 's-2' });
    expect(await missing([reports, { ...care, status: 'pending' }])).toMatchObject({ senderId: 's-1' });
  });

  test('that is not ready is reported with all its problems', async () => {
    const pending = { id: 's-3', email: 'new@a.example', status: 'pending', domain: {} };
    expect((await missing([pending], 's-3')).missing).toEqual([
      'The sender email new@a.example cannot be used: its owner has not confirmed it, its DKIM is not verified, its return path is not verified.',
    ]);
    expect((await missing([pending])).missing).toEqual([
      'No sender email is verified, including its DKIM and return path.',
    ]);
    expect((await missing([pending], 's-9')).missing).toEqual([
      'There is no sender email with the id "s-9"; existing sender emails: s-3 (new@a.example).',
    ]);
    expect((await missing([pending], 'new@a.example')).missing).toEqual([
      'There is no sender email with the id "new@a.example"; for the one with that address, write { name: "new@a.example" }.',
    ]);
    expect((await missing([], 's-9')).missing).toEqual(['There is no sender email with the id "s-9".']);
  });

  test('must be chosen if several are possible', async () => {
    expect((await missing([reports, care])).missing).toEqual([
      'There are several sender emails: reports@a.example, care@a.example; set "sender" to one of them.',
    ]);
  });
});

describe('snapshots of the period', () => {
  const october = { start: '2026-10-01', end: '2026-10-31' };
  const lack = (site: object) => missingSnapshots(site as Item<'listSites'>, october, 'Europe/Berlin');
  const newest = (created_at: string) => ({ backups: { enabled: true, latest_snapshot: { created_at } } });

  test('are missing if the list of sites shows that there are none', () => {
    expect(lack({ backups: { enabled: false } })).toEqual([
      'The site has no backups, and a report needs snapshots.',
    ]);
    expect(lack({ backups: { enabled: true, available_snapshots: 0 } })).toEqual([
      'The site has no snapshots.',
    ]);
    expect(lack({ created_at: '2026-11-02T00:00:00Z' })).toEqual([
      'The site was added on 2026-11-02, after the days of the report.',
    ]);
    expect(lack(newest('2026-09-30T21:59:59Z'))).toEqual([
      'The newest snapshot is from 2026-09-30, before the days of the report.',
    ]);
  });

  test('may exist if the list shows nothing about them', () => {
    expect(lack({})).toEqual([]);
    expect(lack(newest('2026-09-30T22:00:00Z'))).toEqual([]);
    expect(lack({ ...newest('2026-11-20T02:00:00Z'), created_at: '2026-10-20T00:00:00Z' })).toEqual([]);
  });

  test('are requested with both limits of the period in the time zone', async () => {
    const asked: unknown[] = [];
    const api = {
      listSiteSnapshots: async (input: unknown) => {
        asked.push(input);
        return {
          snapshots: ['2026-10-03T23:30:00Z', '2026-10-29T23:30:00Z'].map((created_at) => ({ created_at })),
          ...(asked.length === 1 ? { meta: { pagination: { totalPages: 1 } } } : {}),
        };
      },
    } as unknown as JobApi['api'];
    expect(await snapshotsOf(api, 's', october, 'Europe/Berlin')).toEqual({
      found: 'Its successful snapshots of 2026-10-01 to 2026-10-31 are from 2026-10-04 to 2026-10-30.',
    });
    expect(asked).toEqual([
      {
        site_id: 's',
        filters: {
          created_at: { gte: '2026-09-30T22:00:00.000Z', lte: '2026-10-31T22:59:59.999Z' },
          status: { eq: 'succeeded' },
        },
        sort: 'created_at,asc',
        perPage: 100,
      },
    ]);
    // Without a page count, the last snapshot is unknown.
    expect(await snapshotsOf(api, 's', october, 'Europe/Berlin')).toEqual({
      found: 'Its successful snapshots of 2026-10-01 to 2026-10-31 are from 2026-10-04 on.',
    });
  });

  test('that the service does not show are reported as missing with its message', async () => {
    const says = { code: 'backups_disabled', message: 'Backups are disabled.' };
    const api = {
      listSiteSnapshots: () => Promise.reject(new RejectedError('listSiteSnapshots', 422, says)),
    } as unknown as JobApi['api'];
    expect(await snapshotsOf(api, 's', october, 'UTC')).toEqual({ missing: 'Backups are disabled.' });
  });
});
