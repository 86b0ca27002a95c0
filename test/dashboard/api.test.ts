import { afterEach, expect, test } from 'vitest';
import { type RunReport, type RunSummary, toReport } from '../../src/run/report.ts';
import { keepSecret } from '../../src/secrets.ts';
import { aRun, aTarget, ended, PASSWORD, remember, startWorld, type World } from './world.ts';

let world: World;
afterEach(() => world.stop());

/** What a program with the password gets. */
async function get<Body>(path: string): Promise<{ status: number; body: Body }> {
  const answer = await world.ask(path, { headers: { authorization: `Bearer ${PASSWORD}` } });
  return { status: answer.status, body: (await answer.json()) as Body };
}
type List = { runs: RunSummary[] };
type Problem = { error: { message: string } };

test('a run is the same object as the command line prints, with every target', async () => {
  world = await startWorld();
  const targets = Array.from({ length: 1201 }, (_, index) =>
    index % 2 === 0 ? ended(`s${index}`, 'succeeded') : aTarget(`s${index}`),
  );
  await remember(world.records, aRun(), targets);
  const run = await world.records.runs.get(aRun().id);

  const { status, body } = await get(`/api/v1/runs/${aRun().id}`);

  expect(status).toBe(200);
  expect(run && toReport(run, targets)).toEqual(body);
});

test('runs are listed newest first, and can be asked for by policy, status, time and number', async () => {
  world = await startWorld();
  const at = aRun().createdAt;
  for (const [id, policy, hours] of [
    ['a', 'x', 0],
    ['b', 'y', 1],
    ['c', 'x', 2],
  ] as const) {
    await remember(world.records, aRun({ id, policy, createdAt: at + hours * 3_600_000 }), []);
  }
  const ids = async (query: string) =>
    (await get<List>(`/api/v1/runs${query}`)).body.runs.map(({ run }) => run);

  expect(await ids('')).toEqual(['c', 'b', 'a']);
  expect(await ids('?policy=x')).toEqual(['c', 'a']);
  expect(await ids('?status=blocked')).toEqual([]);
  expect(await ids(`?since=${new Date(at + 3_600_000).toISOString()}&limit=1`)).toEqual(['c']);
});

test('a question that cannot be answered says what is wrong with it', async () => {
  world = await startWorld();

  const unknown = await get<Problem>('/api/v1/runs?statuses=failed');
  const wrong = await get<Problem>('/api/v1/runs?limit=0');

  expect(unknown.status).toBe(400);
  expect(unknown.body.error.message).toContain('statuses');
  expect(wrong.status).toBe(400);
  expect(await get('/api/v1/runs/nothing')).toMatchObject({ status: 404 });
  expect(await get('/api/v1/nothing')).toMatchObject({ status: 404 });
});

test('a secret that slipped into a detail is not given away', async () => {
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
