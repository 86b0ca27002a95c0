/** What the command line shows about recordings (`record:` of a policy). */
import { expect, test } from 'vitest';
import type { RunReport } from '../../src/run/report.ts';
import { aRun } from '../support/builders.ts';
import { DUE_MS, leaveUnrecorded } from '../support/recordings.ts';
import { sandboxOfFile } from './desk-of-file.ts';

const { desk } = await sandboxOfFile({ sites: 3, speed: 100 });
desk.write(
  'config/policies/recorded.yaml',
  `policies:
  - name: recorded
    job: api-call
    select: { from: listSites }
    with: { operation: createSiteNote, body: { note: { content: "Checked." } } }
    record: { custom_work: { title: "Monthly maintenance" }, note: living }
`,
);

test('a plan shows what would be recorded, on how many sites, and the requests', async () => {
  const { code, stdout } = await desk.run(['plan', 'recorded']);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^It would then record custom work \(“Monthly maintenance”\) and the living note on at most 3 sites: up to \d+ requests, of the class record\.$/m,
  );
  const { recording } = await desk.json(['plan', 'recorded']);
  expect(recording).toMatchObject({ sites: 3, custom_work: 'Monthly maintenance', note: 'living' });

  expect((await desk.run(['plan', 'nightly-sync'])).stdout).not.toContain('It would then record');
});

test('a run shows how much of it is recorded, and where and why the rest is not', async () => {
  const { records } = await desk.keepRedis();
  const id = (await desk.json<RunReport>(['run', 'recorded'])).run;
  const shown = async () => (await desk.run(['runs', 'show', id])).stdout;

  expect(await shown()).toMatch(
    /^Recordings: 0 of 6 recorded \(0 requests\), 6 pending; a daemon writes them, a minute later or more$/m,
  );

  const now = Date.now() + DUE_MS;
  for (let site = await records.outbox.claim('default', now, DUE_MS); site; ) {
    const read = await records.outbox.recordOf(id, site.site);
    const isFirst = site.site === 'site-0001';
    const why = 'The service refused the request (HTTP 422): custom work is disabled.';
    const of = (kind: 'work' | 'note', to: Parameters<typeof records.outbox.setState>[4]) =>
      site && read && records.outbox.setState(site, id, kind, read, to);
    await of('work', isFirst ? { state: 'failed', why } : { state: 'recorded' });
    await of(
      'note',
      isFirst ? { state: 'left', why: 'A person has removed the note.' } : { state: 'recorded' },
    );
    await records.outbox.leave(site, site.runs, { due: now });
    site = await records.outbox.claim('default', now, DUE_MS);
  }
  await records.outbox.countRequests(id, 8);

  const text = await shown();
  expect(text).toMatch(/^Recordings: 4 of 6 recorded \(8 requests\), 1 not recorded, 1 left to people$/m);
  expect(text).toMatch(
    /^ {2}not recorded {2}site-0001, custom work: The service refused the request \(HTTP 422\): custom work is disabled\.$/m,
  );
  expect(text).toMatch(/^ {2}not recorded {2}site-0001, note: A person has removed the note\.$/m);
  const { recordings } = await desk.json<RunReport>(['runs', 'show', id]);
  expect(recordings).toMatchObject({ wanted: 6, recorded: 4, failed: 1, left: 1, requests: 8 });
});

test('doctor warns of recordings that have waited for more than an hour, with the last error', async () => {
  const { records, redis } = await desk.keepRedis();
  const at = Date.now() - 59 * 60_000;
  const run = aRun({ id: 'recorded.fresh', policy: 'recorded', account: 'default', createdAt: at });
  await leaveUnrecorded(records, run, { sites: ['site-0001', 'site-0002'], at });
  expect((await desk.run(['doctor'])).stdout).not.toContain('recordings');

  const long = Date.now() - 61 * 60_000;
  const stuck = { ...run, id: 'recorded.stuck', createdAt: long };
  const why = 'The service answers HTTP 503.';
  await leaveUnrecorded(records, stuck, { sites: ['site-0003'], at: long, why });

  const { code, stdout } = await desk.run(['doctor']);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^warning +recordings: 3 sites of the account "default" wait for recordings since 20\d\d-\d\d-\d\d \d\d:\d\dZ: The service answers HTTP 503; see docs\/recording\.md$/m,
  );
  await redis.store.flushall();
});
