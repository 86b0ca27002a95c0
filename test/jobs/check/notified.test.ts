/** A check whose policy notifies: once when something is new, once when it is resolved, silent in between. */
import { expect, test } from 'vitest';
import { check } from '../../../jobs/check/job.ts';
import type { Select } from '../../../src/policy/policy.ts';
import { startReceiver } from '../../notify/receiver.ts';
import { letterOf } from '../../notify/world.ts';
import { aPolicy } from '../../support/builders.ts';
import { worldOfTest } from '../../support/world-of-test.ts';

/** A world whose Caretaker sends the messages to `ops`. */
async function notifying(sites: number) {
  const now = await worldOfTest({ sites, notify: true });
  const ops = await startReceiver();
  const { retention, calendars } = now.caretaker.settings;
  const notifications = { ops: { name: 'ops', webhook: { url: ops.url }, group_wait: 0 } };
  now.caretaker.take({ notifications, calendars, retention });
  return { now, ops };
}

test('a paused site is reported when it is first seen and when it is resumed', async () => {
  const { now, ops } = await notifying(4);
  const [site = '', other = ''] = now.sandbox.siteIds();
  const select: Select = { from: 'listSites', filters: {}, where: 'site.sync.paused' };
  const policy = aPolicy({
    name: 'paused-sites',
    job: 'check',
    select,
    options: check.options.parse({ message: 'Paused, last sync {{ago(site.sync.last_sync_at)}}' }),
    notify: [{ on: ['findings', 'recovered'], to: 'ops' }],
  });
  /** Runs the check and gives the subjects of what was sent since the run before. */
  const checked = async (sent: number, only?: string[]) => {
    const before = ops.received.length;
    await now.ended(await now.fire(policy, only));
    await ops.untilReceived(before + sent);
    return ops.received.slice(before).map((_, index) => {
      const { type, data } = letterOf(ops, before + index);
      return [type, data.text.split('\n').length];
    });
  };

  expect(await checked(0)).toEqual([]);
  now.sandbox.site(site).pause(true);
  expect(await checked(1)).toEqual([['policy.findings', 2]]);
  expect(await checked(0)).toEqual([]);

  // What the service does not show is neither found nor resolved.
  const show = [now.sandbox.hide('listSites', 'sync.paused'), now.sandbox.hide('showSite', 'sync.paused')];
  expect(await checked(0)).toEqual([]);
  for (const again of show) again();

  now.sandbox.site(site).pause(false);
  expect(await checked(0, [other])).toEqual([]);
  expect(await checked(1)).toEqual([['policy.recovered', 2]]);
  expect(await checked(0)).toEqual([]);
  expect(ops.received).toHaveLength(2);
});

test('a check that finds errors is told as found', async () => {
  const { now, ops } = await notifying(2);
  const policy = aPolicy({
    name: 'every-site',
    job: 'check',
    select: { from: 'listSites', filters: {} },
    options: check.options.parse({ severity: 'error' }),
    notify: [{ on: ['failed'], to: 'ops' }],
  });

  const run = await now.ended(await now.fire(policy));
  await ops.untilReceived(1);

  expect(run).toMatchObject({ status: 'failed', counts: { failed: 2, found: 2 } });
  expect(letterOf(ops, 0).data.text).toMatch(/^every-site found something: of 2 targets, 2 have findings\./);
});
