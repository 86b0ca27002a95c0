/** bull-board: recent entries with names, results and links, under our content policy. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { linkOf } from '../../src/dashboard/http/board.ts';
import type { Entry } from '../../src/queue/entry.ts';
import { openQueues, type Queues } from '../../src/queue/queues.ts';
import { browserOfFile, complaintsOf, isInBrowser, openPage } from './chromium.ts';
import { startWorld, type World } from './world.ts';

const run = 'nightly-sync.20260730T020000Z';
const result = { target: 'site-1.example', account: 'default', state: 'ended', outcome: 'succeeded' };
const log = ['Requests: syncSite.', 'Outcome: succeeded (done).'];

const browser = browserOfFile(isInBrowser);
/** The long file has those in a browser alone. */
const overHttp = test.skipIf(isInBrowser());
let world: World;
let redis: Redis;
let queues: Queues;
beforeAll(async () => {
  world = await startWorld();
  redis = new Redis({ ...world.redis.options, maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  queues = openQueues(redis, world.log);
  const working = queues.work(
    {
      plan: async () => ({ result: { plan: 'started' }, log: ['The plan was started.'] }),
      act: async ({ targets: [target] }) =>
        target?.id === 'site-1'
          ? { result, log }
          : Promise.reject(new Error('No answer: token=hunter2secret')),
    },
    5,
  );
  const act = (id: string): Entry => ({ kind: 'act', run, targets: [{ id, fence: 1 }] });
  await queues.put([{ kind: 'plan', run }, act('site-1'), act('site-2')]);
  const [plans, actions] = queues.boards();
  await vi.waitFor(async () => {
    const ended = [plans?.getCompletedCount(), actions?.getCompletedCount(), actions?.getFailedCount()];
    expect(await Promise.all(ended)).toEqual([1, 1, 1]);
  });
  await working.stop();
});
afterAll(async () => {
  await queues.close();
  redis.disconnect();
  await world.stop();
});

overHttp('each ended entry has a name, a result, and a link to its site or its run', async () => {
  const ask = await world.signedIn();
  const list = async (status: string) => {
    const answer = await ask(
      `/queues/board/api/queues?activeQueue=actions&status=${status}&page=1&jobsPerPage=10`,
    );
    const { queues: all } = (await answer.json()) as { queues: { name: string; jobs: object[] }[] };
    return all.find(({ name }) => name === 'actions')?.jobs;
  };

  expect(await list('completed')).toMatchObject([
    {
      name: 'nightly-sync: site-1',
      returnValue: { ...result, log },
      externalUrl: { displayText: 'Site and run', href: `/targets/default/site-1?run=${run}` },
    },
  ]);
  const failed = await list('failed');
  expect(failed).toMatchObject([
    {
      name: 'nightly-sync: site-2',
      failedReason: 'No answer: token=[hidden]',
      externalUrl: { displayText: 'Run', href: `/runs/${run}?search=site-2` },
    },
  ]);
  expect(JSON.stringify(failed)).not.toContain('hunter2');
});

overHttp('an entry of a plan leads to its run, and what is no entry of ours to all runs', () => {
  expect(linkOf({ data: { kind: 'plan', run }, returnvalue: null }).href).toBe(`/runs/${run}`);
  expect(linkOf({ data: 'else', returnvalue: undefined }).href).toBe('/runs');
});

overHttp('nothing of bull-board responds without a session', async () => {
  for (const path of ['', '/', '/api/queues', '/static/images/logo.svg', '/x/y'])
    expect((await world.ask(`/queues/board${path}`)).status, path).toBe(401);
});

overHttp('no page shows anything in a frame or may be shown in one', async () => {
  const ask = await world.signedIn();
  const framing = async (path: string) => {
    const { headers } = await ask(path);
    const policy = headers.get('content-security-policy') ?? '';
    const of = (name: string) => new RegExp(`${name} ([^;]+)`).exec(policy)?.[1];
    return [of('default-src'), of('frame-ancestors'), headers.get('x-frame-options')];
  };
  expect((await ask('/queues/board/')).headers.get('location')).toBe('/queues/board');
  for (const path of ['/', '/queues', '/queues/board', '/sign-in', '/queues/nothing'])
    expect(await framing(path), path).toEqual(["'none'", "'none'", 'DENY']);
});

test.runIf(isInBrowser())(
  'the page Queues leads to bull-board, with results and links, under our content policy',
  async () => {
    const page = await openPage(browser(), world.dashboard.url, '/queues');
    const complaints = complaintsOf(page, world.dashboard.url);
    await page.getByRole('link', { name: /bull-board/ }).click();
    await page
      .getByRole('link', { name: /actions/ })
      .first()
      .click();
    await page
      .getByRole('link', { name: /completed/i })
      .first()
      .click();

    await page.getByText('nightly-sync: site-1').first().waitFor();
    await page.getByText('Outcome: succeeded (done).').first().waitFor();
    const link = page.locator(`a[href="/targets/default/site-1?run=${run}"]`);
    const [opened] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
    await opened.waitForURL('**/targets/default/site-1?*');
    expect(complaints).toEqual([]);
  },
);
