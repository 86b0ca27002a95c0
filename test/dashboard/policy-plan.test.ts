/** The plan of a policy on its page, made by a real daemon with the sandbox as its account. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../src/app/daemon.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';
import { sessionOf, textOf } from './world.ts';

let world: World;
let daemon: Daemon;
let folder: string;
let cookie = '';

const SITES = 130;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'caretaker-policies-'));
  world = await startWorld({ sites: SITES, seed: 3, work: false, policiesDir: folder });
  const [first = ''] = world.sandbox.siteIds();
  writeFileSync(
    join(folder, 'sync.yaml'),
    `policies:
  - name: sync
    job: site-sync
    description: Sync all but one
    schedule: { cron: "0 2 * * *" }
    select: { where: site.id != "${first}" }
    approval: { when: { over: { targets: 5 } }, separate: true }
    rollout: { batches: [4, 100%] }
`,
  );
  daemon = await startDaemon({ caretaker: world.caretaker, roles: ['dashboard'] });
  await until(
    world,
    async () => (await world.caretaker.records.presence.running(world.clock.now())).length > 0,
  );
  cookie = sessionOf(await fetch(daemon.dashboard?.signInLink ?? '', { redirect: 'manual' }));
});
afterEach(async () => {
  await daemon.stop();
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
});

const url = () => daemon.dashboard?.url ?? '';
const look = async (path: string) => {
  const html = await (await fetch(url() + path, { headers: { cookie, accept: 'text/html' } })).text();
  return { html, text: textOf(html) };
};
const press = (path: string) =>
  fetch(url() + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, origin: url(), accept: 'text/html' },
  });
/** How many requests the service has received. */
const requests = () => world.sandbox.journal.requests.length;

test('opening the tabs of a policy requests nothing of the service', async () => {
  const before = requests();
  for (const tab of ['', '/trends', '/plan', '/definition', '/changes']) {
    const { text } = await look(`/policies/sync${tab}`);
    expect(text).toContain('Sync all but one');
  }
  expect((await look('/policies/sync/plan')).text).toContain('No plan was made in the last 24 hours.');
  expect(requests()).toBe(before);
});

test('the button plans once, and the plan stays with its price, targets, exclusions, batches and approval', async () => {
  const before = requests();
  const answer = await press('/policies/sync/plan');
  expect(answer.status).toBe(303);
  expect(answer.headers.get('location')).toBe('/policies/sync/plan');
  const spent = requests() - before;
  expect(spent).toBeGreaterThan(0);

  const { html, text } = await look('/policies/sync/plan');
  await look('/policies/sync/plan');

  expect(requests() - before).toBe(spent);
  expect(text).toMatch(/Planned by .*, .* from listSites/);
  expect(text).toContain('Plan again');
  expect(text).toMatch(
    new RegExp(`Requests of a run \\S+ ${spent} to plan, .* to act and follow; estimated without past runs`),
  );
  expect(text).toMatch(/Batches 4 targets \(4 targets\) 111 targets \(100%\)/);
  expect(text).toMatch(/Approval .*Decided by approver, admin, within 1 d, not by who started the run\./);
  expect(text).toContain('Excluded 1: select.where does not hold');
  expect(html.match(/<td data-label="What is sent"/g)).toHaveLength(100);
  expect(text).toMatch(/The first 100 of \d+\. caretaker plan --all prints all of them\./);
  expect(text).toContain('syncSite');
});

test('a plan of an earlier version of the policy says so', async () => {
  await press('/policies/sync/plan');
  expect((await look('/policies/sync/plan')).text).not.toContain('has changed since this plan was made');
  const { previews } = world.caretaker.records;
  const stored = await previews.last('sync');
  if (!stored) throw new Error('The plan is stored.');
  await previews.keep('sync', { ...stored, hash: 'another' });
  expect((await look('/policies/sync/plan')).text).toContain(
    'The policy has changed since this plan was made',
  );
});
