/** What pages and /readyz show about recordings (`record:` of a policy). */
import { afterEach, expect, test } from 'vitest';
import { DUE_MS, leaveUnrecorded } from '../support/recordings.ts';
import { aRun, startWorld, textOf, type World } from './world.ts';

let world: World;
afterEach(() => world.stop());

/** The text of a page, with its quotes as they are read. */
const shown = async (path: string) =>
  textOf((await world.look(path)).html.replaceAll('&#39;', "'").replaceAll('&quot;', '"'));

test('an account whose recordings have waited for more than an hour is an alert on every page, with the last error', async () => {
  world = await startWorld();
  const alert =
    /2 sites of the account "default" wait for recordings since .*: The service answers HTTP 503\./;
  const why = 'The service answers HTTP 503.';
  const leave = (site: string, minutes: number) =>
    leaveUnrecorded(world.records, aRun({ id: site }), {
      sites: [site],
      at: Date.now() - minutes * 60_000,
      why,
    });

  await leave('site-0001', 59);
  for (const path of ['/', '/system']) expect(await shown(path)).not.toContain('recordings since');
  await leave('site-0002', 61);

  for (const path of ['/', '/runs', '/system']) expect(await shown(path)).toMatch(alert);
});

test('a run shows how much of it is recorded, and where and why the rest is not', async () => {
  world = await startWorld();
  const at = Date.now() - 60_000;
  await leaveUnrecorded(world.records, aRun(), { sites: ['site-0001'], at });
  const ofRun = () => shown(`/runs/${aRun().id}`);
  expect(await ofRun()).toContain('0 of 2 recorded (0 requests), 2 pending');

  const { outbox } = world.records;
  const site = await outbox.claim('default', at + DUE_MS, DUE_MS);
  const read = await outbox.recordOf(aRun().id, 'site-0001');
  if (!site || !read) throw new Error('It waits to be recorded.');
  await outbox.setState(site, aRun().id, 'work', read, { state: 'recorded' });
  const why = 'A person has <b>removed</b> the note.';
  await outbox.setState(site, aRun().id, 'note', read, { state: 'left', why });

  expect(await ofRun()).toContain('1 of 2 recorded (0 requests), 1 left to people');
  expect(await ofRun()).toContain(
    'Not recorded on site-0001 (note): A person has &lt;b&gt;removed&lt;/b&gt; the note.',
  );
});
