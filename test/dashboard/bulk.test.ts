/** Several runs at once: who may, what becomes of each, and what the audit log has of it. */
import { afterEach, expect, test } from 'vitest';
import { aTarget } from '../support/builders.ts';
import { anAccount, aRun, auditOf, ended, remember, startWorld, usersOf, type World } from './world.ts';

let world: World;
afterEach(() => world.stop());

/** Two active runs, `sync.1` and `hotels.1`, and one that has ended with two failures. */
async function start(): Promise<void> {
  world = await startWorld({
    access: () =>
      usersOf({
        olga: [{ role: 'operator' }],
        hugo: [{ role: 'operator', accounts: ['hotels'] }],
        mixed: [{ role: 'viewer' }, { role: 'operator', accounts: ['hotels'] }],
        vera: [{ role: 'viewer' }],
      }),
    accounts: async () => [anAccount(), anAccount({ account: 'hotels' })],
  });
  await remember(world.records, aRun({ id: 'sync.1' }), [aTarget('a'), aTarget('b')]);
  await remember(world.records, aRun({ id: 'hotels.1', account: 'hotels' }), [aTarget('a')]);
  const done = aRun({ id: 'done.1', policy: 'done', requests: 6 });
  await remember(world.records, done, [
    ended('a', 'failed', { reason: 'timeout' }),
    ended('b', 'failed', { reason: 'unknown-effect' }),
    ended('c', 'succeeded'),
  ]);
  await world.records.runs.move(done, 'partial', { at: 1 });
}

const as = (name: string) => ({
  look: (path: string) => world.look(path, name),
  press: (path: string, ids: readonly string[]) =>
    world.press(
      path,
      ids.map((id): [string, string] => ['run', id]),
      name,
    ),
});
const endingOf = async (id: string) => (await world.records.runs.get(id))?.ending;
const actsOf = async () =>
  (await auditOf(world))
    .filter(({ what }) => what.startsWith('runs.'))
    .map(({ what, run, result }) => `${what} ${run} ${result}`);

test('several runs are cancelled after one question, and each has its line in the audit log', async () => {
  await start();
  const olga = as('olga');
  const asked = await olga.look('/bulk/cancel?run=sync.1&run=hotels.1&run=done.1&run=sync.1');

  expect(asked.main).toContain('Cancel 2 runs?');
  expect(asked.main).toContain('3 targets have not ended');
  expect(asked.main).toContain('at most 3 requests and 1 minute with the whole budget');
  expect(asked.main).toContain('A cancelled run cannot be continued.');
  expect(asked.main).toContain('done.1 is skipped: it has already ended: partial.');
  expect(asked.html).toMatch(/<button[^>]*>Cancel 2 runs<\/button>/);
  expect(await endingOf('sync.1')).toBeUndefined();

  const done = await olga.press('/bulk/cancel', ['sync.1', 'hotels.1']);
  expect(done.status).toBe(303);
  expect(done.headers.get('location')).toBe('/runs');
  expect((await olga.look('/runs')).status).toBe(200);
  expect([await endingOf('sync.1'), await endingOf('hotels.1')]).toEqual(['cancelled', 'cancelled']);
  expect(await actsOf()).toEqual([
    'runs.cancel sync.1 requested',
    'runs.cancel sync.1 done',
    'runs.cancel hotels.1 requested',
    'runs.cancel hotels.1 done',
  ]);
});

test('a retry says how many targets, about how many requests, and what else failed', async () => {
  await start();
  const { main: text } = await as('olga').look('/bulk/retry?run=done.1&run=sync.1');

  expect(text).toContain('Retry 1 run?');
  expect(text).toContain('works on what failed for a reason for which a retry may help: 1 target.');
  expect(text).toContain('For the others the cause has to be fixed first (1 unknown-effect).');
  expect(text).toContain('this takes about 4 requests and 1 minute with the whole budget');
  expect(text).toContain('sync.1 is skipped: it has not ended: running.');
});

test('what became of each run is said when it cannot be done to all of them', async () => {
  await start();
  const { status, main: text } = await as('olga').press('/bulk/cancel', ['sync.1', 'done.1', 'no-such.1']);

  expect(status).toBe(200);
  expect(text).toContain('1 run cancelled, 2 not');
  expect(text).toContain('done.1 : it has already ended: partial');
  expect(text).toContain('no-such.1 : there is no such run any more');
  expect(await endingOf('sync.1')).toBe('cancelled');
});

test('runs outside the limits of an operator are as if they did not exist, and nothing happens to them', async () => {
  await start();
  const hugo = as('hugo');

  expect((await hugo.look('/runs')).html).not.toContain('sync.1');
  expect((await hugo.look('/bulk/cancel?run=sync.1')).main).toContain('there is no such run any more');
  const { main: text } = await hugo.press('/bulk/cancel', ['sync.1', 'hotels.1']);
  expect(text).toContain('1 run cancelled, 1 not');
  expect([await endingOf('sync.1'), await endingOf('hotels.1')]).toEqual([undefined, 'cancelled']);
});

test('who may only see a run can neither select it nor act on it, and the attempt is audited as refused', async () => {
  await start();
  const mixed = as('mixed');
  const { html } = await mixed.look('/runs');
  expect(html).toContain('name="run" value="hotels.1"');
  expect(html).not.toContain('name="run" value="sync.1"');

  expect((await mixed.look('/bulk/cancel?run=sync.1')).main).toContain('you may not do this');
  expect((await mixed.press('/bulk/cancel', ['sync.1'])).main).toContain('0 runs cancelled, 1 not');
  expect(await endingOf('sync.1')).toBeUndefined();
  expect(await actsOf()).toEqual(['runs.cancel sync.1 refused']);

  // Who is a viewer everywhere has no boxes and no buttons at all.
  const vera = as('vera');
  const seen = await vera.look('/runs');
  expect(seen.html, 'a box of a run').not.toContain('name="run"');
  expect(seen.html).not.toContain('/bulk/');
  expect((await vera.look('/bulk/cancel?run=sync.1')).status).toBe(403);
  expect((await vera.press('/bulk/cancel', ['sync.1'])).status).toBe(403);
  expect(await endingOf('sync.1')).toBeUndefined();
});

test('at most fifty runs are changed at once, and nothing selected leads back to the list', async () => {
  await start();
  const olga = as('olga');
  const many = Array.from({ length: 60 }, (_, at) => `no-such.${at}`);

  expect((await olga.press('/bulk/cancel', [...many, 'sync.1'])).main).toContain('0 runs cancelled, 50 not');
  expect(await endingOf('sync.1')).toBeUndefined();
  const back = await olga.look('/bulk/retry?back=/runs?status=failed');
  expect([back.status, back.headers.get('location')]).toEqual([303, '/runs?status=failed']);
  expect((await olga.press('/bulk/retry', [])).headers.get('location')).toBe('/runs');
});
