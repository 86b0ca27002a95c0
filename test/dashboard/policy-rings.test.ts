/** The rings of a policy on its page, where a person holds one, with the sandbox as the account. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { updateRings } from '../../jobs/update-rings/job.ts';
import { type Daemon, startDaemon } from '../../src/app/daemon.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';
import { sessionOf, textOf } from './world.ts';

const options = updateRings.options.parse({ rings: [{ name: 'canary', percent: '50%' }, { name: 'rest' }] });
let world: World;
let daemon: Daemon;
let folder: string;
let cookie = '';
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'caretaker-policies-'));
  writeFileSync(
    join(folder, 'safe.yaml'),
    `policies:
  - name: safe
    job: update-rings
    with: { rings: [{ name: canary, percent: 50% }, { name: rest }] }
  - name: sync
    job: site-sync
`,
  );
  world = await startWorld({ sites: 6, policiesDir: folder });
  daemon = await startDaemon({ caretaker: world.caretaker, roles: ['dashboard'] });
  const processes = () => world.caretaker.records.presence.running(world.clock.now());
  await until(world, async () => (await processes()).length > 0);
  cookie = sessionOf(await fetch(daemon.dashboard?.signInLink ?? '', { redirect: 'manual' }));
});
afterEach(async () => {
  await daemon.stop();
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
});

const url = () => daemon.dashboard?.url ?? '';
async function look(path: string) {
  const answer = await fetch(url() + path, { headers: { cookie, accept: 'text/html' } });
  const html = await answer.text();
  return { status: answer.status, html, text: textOf(html) };
}
const send = (path: string, fields: Record<string, string> = {}) =>
  fetch(url() + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, origin: url(), accept: 'text/html' },
    body: new URLSearchParams(fields),
  });

test('the tab shows each ring, a person holds one with a reason, and a policy without rings has no tab', async () => {
  expect((await look('/policies/safe/rings')).text).toContain('No run has looked at the rings yet.');
  await world.ended(await world.fire(aPolicy({ name: 'safe', job: 'update-rings', options })));
  const { text, html } = await look('/policies/safe/rings');
  expect(text).toMatch(/canary it updates \d sites?, runs/);
  expect(text).toContain('canary has not updated anything yet.');
  expect(html).toContain('href="/policies/safe/rings/hold?ring=rest"');

  const question = await look('/policies/safe/rings/hold?ring=rest');
  expect(question.text).toContain('Hold rest?');
  await send('/policies/safe/rings/hold', { ring: 'rest', reason: 'Black Friday' });
  const held = await look('/policies/safe/rings');
  expect(held.text).toContain('held by');
  expect(held.text).toContain('Black Friday');
  expect(held.html).toContain('href="/policies/safe/rings/unhold?ring=rest"');

  expect((await look('/policies/sync/rings')).status).toBe(404);
  expect((await look('/policies/sync')).html).not.toContain('/rings"');
});
