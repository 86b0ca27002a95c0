/** `run` and `runs watch` of a run in batches: what is printed on the way, and the exit codes. */
import { expect, test } from 'vitest';
import { fastClock } from '../support/caretaker.ts';
import { sandboxOfFile } from './desk-of-file.ts';

const { sandbox, desk } = await sandboxOfFile({ sites: 3, clock: fastClock(5) });
for (const id of sandbox.siteIds()) sandbox.site(id).connect();
const batches = 'rollout: { batches: [1, 100%], pause: 1s, healthy: site.connection.status == "connected" }';
const gate =
  'rollout: { batches: [1], healthy: site.connection.status == "disconnected", wait_when_closed: 1h }';
const approval = 'approval: { when: always, each_batch: true }';
desk.write(
  'config/policies/sync.yaml',
  `policies:
  - { name: sync, job: site-sync, with: { mode: all }, ${batches} }
  - { name: closed, job: site-sync, with: { mode: all }, ${gate.replace(', wait_when_closed: 1h', '')} }
  - { name: waits, job: site-sync, with: { mode: all }, ${gate} }
  - { name: asks, job: site-sync, with: { mode: all }, rollout: { batches: [1] }, ${approval} }
`,
);

const linesOf = (text: string) => text.split('\n').filter((line) => /[Bb]atch|gate/.test(line));

test('run prints each batch, the pause and until when, and the gate with its result', async () => {
  const { code, stdout, stderr } = await desk.run(['run', 'sync']);

  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('succeeded') });
  expect(linesOf(stderr)).toEqual([
    'Batch 1 of 2 (1 target) has begun: 1 target.',
    expect.stringMatching(
      /^Batch 1 of 2 \(1 target\) has ended\. The run pauses until \S+ \d\d:\d\d(:\d\d)?Z\.$/,
    ),
    'The gate after batch 1 of 2 (1 target) is open: 0 of 1 target failed, and all are healthy.',
    'Batch 2 of 2 (100%) has begun: 2 targets.',
  ]);
});

test('a closed gate stops the run: exit code 1, and the sentence is printed once', async () => {
  const { code, stdout, stderr } = await desk.run(['run', 'closed']);

  expect(code).toBe(1);
  expect(`${stderr}${stdout}`.match(/1 of 1 target is not healthy \(rollout\.healthy\)/g)).toHaveLength(1);
  expect(stdout).toMatch(/stopped .*: 1 succeeded, 2 cancelled/);
});

test('a closed gate that waits is shown with its commands, also to people who watch the run', async () => {
  const following = desk.start(['run', 'waits']);
  const line = await following.line(/^The gate after .* is closed: .* The run waits for a person until/);
  const id = /caretaker runs resume (\S+), or/.exec(line)?.[1] ?? '';
  const watching = desk.start(['runs', 'watch', id]);
  expect(await watching.line(/^The gate after/)).toBe(line);

  expect((await desk.run(['runs', 'resume', id, '--reason', 'it is planned'])).code).toBe(0);

  const { code, stderr } = await following.ended;
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /^\S+ resumed it: it is planned\n(?:.*\n)?Batch 2 of 2 \(the rest\) has begun: 2 targets\.$/m,
  );
  expect((await watching.ended).code).toBe(0);
});

test('a run that waits for an approval ends run and watch with 1, with what it waits for and the commands', async () => {
  const { code, stderr } = await desk.run(['run', 'asks']);
  const asked =
    /^It waits for an approval until \S+ \d\d:\d\dZ\. .*\nApprove it: +caretaker approvals approve (\S+)\nReject it: +caretaker approvals reject \S+$/m;
  expect(code).toBe(1);
  const id = asked.exec(stderr)?.[1] ?? '';
  expect(id).toMatch(/^asks\./);

  const watched = await desk.run(['runs', 'watch', id]);
  expect(watched.code).toBe(1);
  expect(watched.stderr).toMatch(asked);
  expect((await desk.run(['approvals', 'approve', id])).code).toBe(0);
  const next = await desk.run(['runs', 'resume', id]);
  expect(next.code).toBe(1);
  expect(linesOf(next.stderr)).toContain('Batch 1 of 2 (1 target) has ended.');
  expect(next.stderr).toMatch(asked);
});
