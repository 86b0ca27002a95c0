/** The plan of a policy on its page, made by a real daemon with the sandbox as its account. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonWorld, startDaemonWorld } from './daemon-world.ts';

let daemon: DaemonWorld;
beforeAll(async () => {
  daemon = await startDaemonWorld({
    sites: 130,
    seed: 3,
    policies: ({ sandbox }) => `policies:
  - name: sync
    job: site-sync
    description: Sync all but one
    schedule: { cron: "0 2 * * *" }
    select: { where: site.id != "${sandbox.siteIds()[0]}" }
    approval: { when: { over: { targets: 5 } }, separate: true }
    rollout: { batches: [4, 100%] }
`,
  });
});
afterAll(() => daemon.stop());

/** How many requests the service has received. */
const requests = () => daemon.world.sandbox.journal.requests.length;

test('opening the tabs of a policy requests nothing of the service', async () => {
  const before = requests();
  for (const tab of ['', '/trends', '/plan', '/definition', '/changes'])
    expect((await daemon.look(`/policies/sync${tab}`)).text).toContain('Sync all but one');
  expect((await daemon.look('/policies/sync/plan')).text).toContain('No plan was made in the last 24 hours.');
  expect(requests()).toBe(before);
});

test('the button plans once, and the plan stays with its price, targets, exclusions, batches and approval, until the policy changes', async () => {
  const before = requests();
  const answer = await daemon.press('/policies/sync/plan');
  expect(answer.status).toBe(303);
  expect(answer.headers.get('location')).toBe('/policies/sync/plan');
  const spent = requests() - before;
  expect(spent).toBeGreaterThan(0);

  const { html, text } = await daemon.look('/policies/sync/plan');
  await daemon.look('/policies/sync/plan');

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

  expect(text).not.toContain('has changed since this plan was made');
  const { previews } = daemon.world.caretaker.records;
  const stored = await previews.last('sync');
  if (!stored) throw new Error('The plan is stored.');
  await previews.keep('sync', { ...stored, hash: 'another' });
  expect((await daemon.look('/policies/sync/plan')).text).toContain(
    'The policy has changed since this plan was made',
  );
});
