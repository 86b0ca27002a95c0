import { afterEach, expect, test } from 'vitest';
import { type RunReport, type RunSummary, type TargetReport, toReport } from '../../src/run/report.ts';
import { keepSecret } from '../../src/secrets.ts';
import { aTarget } from '../support/builders.ts';
import { aRun, ended, openEvents, PASSWORD, remember, startWorld, type World } from './world.ts';

let world: World;
afterEach(() => world.stop());

/** The response to a program that sends the password. */
async function get<Body>(path: string): Promise<{ status: number; body: Body }> {
  const answer = await world.ask(path, { headers: { authorization: `Bearer ${PASSWORD}` } });
  return { status: answer.status, body: (await answer.json()) as Body };
}
type List = { runs: RunSummary[] };

test('a run is the same object that the command line prints, with every target', async () => {
  world = await startWorld();
  const targets = Array.from({ length: 1201 }, (_, index) =>
    index % 2 === 0 ? ended(`s${index}`, 'succeeded') : aTarget(`s${index}`),
  );
  await remember(world.records, aRun(), targets);
  const run = await world.records.runs.get(aRun().id);

  const { status, body } = await get(`/api/v1/runs/${aRun().id}`);

  expect(status).toBe(200);
  expect({ ...(run && toReport(run, targets)), expected_end: expect.any(String) }).toEqual(body);
});

test('runs are listed newest first and in pages, and can be filtered by policy, status, time and limit', async () => {
  world = await startWorld();
  const at = aRun().createdAt;
  for (const [id, policy, hours] of [
    ['a', 'x', 0],
    ['b', 'y', 1],
    ['c', 'x', 2],
    ['d', 'x', 3],
  ] as const) {
    await remember(world.records, aRun({ id, policy, createdAt: at + hours * 3_600_000 }), []);
  }
  const ids = async (query: string) =>
    (await get<List>(`/api/v1/runs${query}`)).body.runs.map(({ run }) => run);

  expect(await ids('')).toEqual(['d', 'c', 'b', 'a']);
  expect(await ids('?policy=x')).toEqual(['d', 'c', 'a']);
  expect(await ids('?status=blocked')).toEqual([]);
  expect(await ids(`?since=${new Date(at + 3_600_000).toISOString()}&limit=1`)).toEqual(['d']);
  // A truncated list has the address of the next page, and the last page has none.
  const pages: string[][] = [];
  for (let next: string | undefined = '/api/v1/runs?policy=x&limit=2'; next !== undefined; ) {
    const answer: Response = await world.ask(next, { headers: { authorization: `Bearer ${PASSWORD}` } });
    pages.push(((await answer.json()) as List).runs.map(({ run }) => run));
    next = /^<(.*)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
  }
  expect(pages).toEqual([['d', 'c'], ['a']]);
});

test('targets are paged, and can be filtered by outcome and searched', async () => {
  world = await startWorld();
  const targets = Array.from({ length: 250 }, (_, index) =>
    index % 100 === 7 ? ended(`s${index}`, 'failed', { detail: 'Disk full.' }) : aTarget(`s${index}`),
  );
  await remember(world.records, aRun(), targets);
  type Page = { targets: TargetReport[]; next: string | null };
  const page = async (query: string) => {
    const { body } = await get<Page>(`/api/v1/runs/${aRun().id}/targets${query}`);
    return { ids: body.targets.map(({ id }) => id), next: body.next };
  };

  expect(await page('?limit=2')).toEqual({ ids: ['s0', 's1'], next: '2' });
  expect(await page('?after=248&limit=2')).toEqual({ ids: ['s248', 's249'], next: null });
  expect(await page('?outcome=failed')).toEqual({ ids: ['s7', 's107', 's207'], next: null });
  expect(await page('?search=DISK&after=8&limit=1')).toEqual({ ids: ['s107'], next: '108' });
  expect((await get(`/api/v1/runs/${aRun().id}/targets?outcome=good`)).status).toBe(400);
  expect((await get('/api/v1/runs/nothing/targets')).status).toBe(404);
});

test('a program can follow events with only the password', async () => {
  world = await startWorld();
  const events = await openEvents((_path, init) =>
    world.ask('/api/v1/events', { ...init, headers: { authorization: `Bearer ${PASSWORD}` } }),
  );
  expect(await events.next()).toContain('event: hello');

  await world.records.runs.create(aRun(), { concurrency: 1, targetMs: 1 });

  expect(await events.next()).toBe(
    `event: changed\ndata: {"runs":["${aRun().id}"],"policies":["nightly-sync"]}\n\n`,
  );
  await events.end();
});

test('a secret in a message is not shown', async () => {
  world = await startWorld();
  keepSecret('tok_very_secret');
  const detail = 'The service said: bad header "Bearer tok_very_secret"';
  await remember(world.records, aRun(), [ended('a', 'failed', { detail })]);
  await world.records.runs.move(aRun(), 'blocked', { at: 1, detail });

  const { body } = await get<RunReport>(`/api/v1/runs/${aRun().id}`);
  const list = await get('/api/v1/runs');

  expect(body.targets[0]?.detail).toBe('The service said: bad header "Bearer [hidden]"');
  expect(JSON.stringify([body, list])).not.toContain('tok_very_secret');
});
