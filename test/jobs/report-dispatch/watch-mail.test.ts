/** How the mail of a report is judged by what the service shows of it. */
import { describe, expect, test } from 'vitest';
import { type MailWatch, mailWatch } from '../../../jobs/report-dispatch/watch-mail.ts';
import { GoneError } from '../../../src/client/errors.ts';
import type { TimeBounds } from '../../../src/clock.ts';
import type { Item } from '../../../src/contract/operations.ts';
import type { Api } from '../../../src/job/api.ts';

const SINCE = Date.parse('2026-11-21T02:00:00Z');
const at = (seconds: number) => new Date(SINCE + seconds * 1_000).toISOString();
/** A time of the service that is known to the millisecond. */
const exactly = (ms: number): TimeBounds => ({ earliest: ms, latest: ms });

describe('the mail of a report', () => {
  const watch: MailWatch = {
    kind: 'mail',
    reportId: 'r-1',
    madeAt: SINCE - 60_000,
    recipients: ['Anna@client.example', 'ben@client.example'],
    since: SINCE,
  };
  type Mail = { email: string; status: string; sent_at?: string };
  const report = (...mails: Mail[]) => ({ id: 'r-1', email: { recipients: mails } }) as Item<'listReports'>;
  const mail = (email: string, status: string, sent_at = at(0)): Mail => ({ email, status, sent_at });
  const judge = (mails: Mail[], of: MailWatch = watch) =>
    mailWatch.evaluate(of, report(...mails), exactly(SINCE));
  const [anna, ben] = ['anna@client.example', 'ben@client.example'] as const;

  test('is done when it was delivered to all recipients, however their addresses are written', () => {
    expect(judge([mail(anna, 'delivered'), mail(ben, 'opened')])).toEqual({ is: 'done', reason: 'done' });
  });

  test('is in progress until the result of every recipient is known', () => {
    expect(judge([mail(anna, 'bounced'), mail(ben, 'sent')])).toEqual({ is: 'running' });
    expect(judge([mail(anna, 'delivered')])).toEqual({ is: 'running' });
    expect(judge([mail(anna, 'delivered'), mail(ben, 'deferred')])).toEqual({ is: 'running' });
  });

  test.each([
    ['bounced', 'the mail bounced'],
    ['failed', 'the mail could not be sent'],
    ['spam', 'the mail was reported as spam'],
  ])('has failed, with the address, when its status is %s', (status, says) => {
    expect(judge([mail(anna, 'delivered'), mail(ben, status)])).toEqual({
      is: 'failed',
      reason: 'undelivered',
      detail: `${ben}: ${says}.`,
    });
  });

  test('that is sent again is not judged by its previous delivery', () => {
    const before = [{ email: anna, status: 'bounced', sent_at: at(-3_600) }];
    const again = { ...watch, before, recipients: [anna] };
    expect(judge([mail(anna, 'bounced', at(-3_600))], again)).toEqual({ is: 'running' });
    expect(judge([mail(anna, 'bounced', at(1))], again)).toMatchObject({ is: 'failed' });
  });

  test('of which nothing is shown is unclear', () => {
    expect(mailWatch.evaluate(watch, { id: 'r-1' } as Item<'listReports'>, exactly(SINCE))).toEqual({
      is: 'unclear',
    });
  });

  test('is judged by the list of reports when the report itself does not show its recipients', async () => {
    const asked: unknown[] = [];
    const api = {
      showReport: async () => ({ report: { id: 'r-1' } }),
      listReports: async (query: unknown) => {
        asked.push(query);
        return { reports: [report(mail(anna, 'delivered'), mail(ben, 'opened'))] };
      },
    } as unknown as Api;
    expect(await mailWatch.poll(api, watch, exactly(SINCE))).toEqual({ is: 'done', reason: 'done' });
    expect(asked).toEqual([{ filters: { created_at: { gte: at(-61), lte: at(-59) } } }]);
  });

  test('is lost when its report is gone', async () => {
    const api = { showReport: () => Promise.reject(new GoneError('showReport')) } as unknown as Api;
    expect(await mailWatch.poll(api, watch, exactly(SINCE))).toMatchObject({ is: 'lost' });
  });

  test('is matched by its report, in one list of all reports since the oldest; old reports are polled', () => {
    const old = { ...watch, reportId: 'r-0', madeAt: SINCE - 30 * 86_400_000 };
    const { sweep, keyOf, keyOfItem } = mailWatch;
    expect(sweep.query([watch, old], at(-5))).toEqual({
      filters: { created_at: { gte: at(-60) } },
      sort: 'created_at,desc',
    });
    expect([watch, old].map((one) => mailWatch.isSwept?.(one))).toEqual([true, false]);
    expect(keyOf(watch)).toBe(keyOfItem(report()));
  });
});
