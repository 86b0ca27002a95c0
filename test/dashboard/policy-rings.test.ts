/** The rings of a policy on its page, where a person holds one, with the sandbox as the account. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { updateRings } from '../../jobs/update-rings/job.ts';
import { aPolicy } from '../support/builders.ts';
import { type DaemonWorld, startDaemonWorld } from './daemon-world.ts';

const options = updateRings.options.parse({ rings: [{ name: 'canary', percent: '50%' }, { name: 'rest' }] });
let daemon: DaemonWorld;
beforeAll(async () => {
  daemon = await startDaemonWorld({
    sites: 6,
    work: true,
    policies: () => `policies:
  - name: safe
    job: update-rings
    with: { rings: [{ name: canary, percent: 50% }, { name: rest }] }
  - name: sync
    job: site-sync
`,
  });
});
afterAll(() => daemon.stop());

test('the tab shows each ring, a person holds one with a reason, and a policy without rings has no tab', async () => {
  const { look, press, world } = daemon;
  expect((await look('/policies/safe/rings')).text).toContain('No run has looked at the rings yet.');
  await world.ended(await world.fire(aPolicy({ name: 'safe', job: 'update-rings', options })));
  const { text, html } = await look('/policies/safe/rings');
  expect(text).toMatch(/canary it updates \d sites?, runs/);
  expect(text).toContain('canary has not updated anything yet.');
  expect(html).toContain('href="/policies/safe/rings/hold?ring=rest"');

  expect((await look('/policies/safe/rings/hold?ring=rest')).text).toContain('Hold rest?');
  await press('/policies/safe/rings/hold', { ring: 'rest', reason: 'Black Friday' });
  const held = await look('/policies/safe/rings');
  expect(held.text).toContain('held by');
  expect(held.text).toContain('Black Friday');
  expect(held.html).toContain('href="/policies/safe/rings/unhold?ring=rest"');

  expect((await look('/policies/sync/rings')).status).toBe(404);
  expect((await look('/policies/sync')).html).not.toContain('/rings"');
});
