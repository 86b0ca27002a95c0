/** What a plan shows of the requests that a run would send. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ before: quickSyncs, sites: 40, work: false });
});
afterAll(() => world.stop());

const planned = async (changes: Parameters<typeof aPolicy>[0]) => {
  const { targets, cost } = await world.caretaker.engine.preview(aPolicy(changes));
  return { targets, planning: cost.planning };
};

const note = (content: unknown) => ({ operation: 'createSiteNote', body: { note: { content } } });

test('a plan shows the body of each call, with the values of its site', async () => {
  const { targets, planning } = await planned({
    job: 'api-call',
    select: { from: 'listSites', filters: {} },
    options: note({ cel: '"Looked after: " + site.url' }),
  });

  expect(planning).toBe(1);
  expect(targets.length).toBeGreaterThan(3);
  for (const { id, label, ...first } of targets) {
    const body = { note: { content: `Looked after: ${label}` } };
    expect(first).toEqual({ requests: [{ operation: 'createSiteNote', params: { site_id: id }, body }] });
  }
});

test('a policy with steps shows the first request of each step', async () => {
  const { targets } = await planned({
    job: 'api-call, site-sync',
    select: { from: 'listSites', filters: {} },
    steps: [
      { name: 'note', job: 'api-call' },
      { name: 'sync', job: 'site-sync' },
    ],
    options: [note('Maintenance begins'), { mode: 'all' }],
  });

  const [first] = targets.filter((one) => 'requests' in one && one.requests.length > 1);
  expect(first).toMatchObject({
    requests: [
      { operation: 'createSiteNote', body: { note: { content: 'Maintenance begins' } } },
      { operation: 'syncSite', params: { site_id: first?.id } },
    ],
  });
});

test('a request that depends on what the service shows later is not guessed, and not paid for', async () => {
  const { targets, planning } = await planned({
    job: 'api-call',
    select: { from: 'listSenderEmails', filters: {} },
    options: { operation: 'rotateSenderEmailDkim', confirm: 'rotateSenderEmailDkim' },
  });

  expect(planning).toBe(1);
  expect(targets.length).toBeGreaterThan(0);
  for (const target of targets)
    expect(target).toMatchObject({
      unknown: 'It depends on showSenderEmail, which is requested when the target is acted on.',
    });
});

test('a plan shows every change of a job that makes several, if what was started before succeeds', async () => {
  const { targets } = await planned({
    options: { mode: 'all', spread_daily_sync: { from: '01:00', to: '04:00' } },
  });

  const moved = targets.filter((one) => 'requests' in one && one.requests.length > 1);
  expect(moved.length).toBeGreaterThan(1);
  for (const { id, ...first } of moved)
    expect(first).toMatchObject({
      requests: [
        { operation: 'syncSite', params: { site_id: id } },
        { operation: 'updateSite', params: { site_id: id }, body: { site: { sync: {} } } },
      ],
    });
});
