/** `caretaker doctor` with services that work and services that do not. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openApiDocument } from '../../src/contract/openapi.ts';
import { openQueues } from '../../src/queue/queues.ts';
import { noteClockJump } from '../../src/records/reported.ts';
import { aRun } from '../support/builders.ts';
import { sendJson, startFaultyService } from '../support/faulty-service.ts';
import { keptLog } from '../support/quiet.ts';
import { sandboxOfFile } from './desk-of-file.ts';

const { sandbox, desk } = await sandboxOfFile({ sites: 3, rateLimit: 200, keepsRedis: false });

async function doctorOf(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const service = await startFaultyService(answer);
  const ended = await desk.run(['doctor'], { CARETAKER_BASE_URL: service.url });
  await service.stop();
  return ended;
}

const noSites = { sites: [], meta: { pagination: { page: 1, perPage: 1, totalPages: 1, totalItems: 0 } } };

test('without problems, each check is one line with its source, and warnings do not change the exit code', async () => {
  const { code, stdout } = await desk.run(['doctor']);
  expect(code).toBe(0);
  expect(stdout).toContain(`configuration: ${desk.folder}`);
  expect(stdout).toMatch(/^ok +data folder: .*\.caretaker, [\d.]+ GiB free$/m);
  expect(stdout).toMatch(/^ok +Redis: \d+\.\d+\.\d+, embedded in .*\.caretaker$/m);
  expect(stdout).toMatch(/^ok +Redis persistence:/m);
  expect(stdout).toMatch(/^ok +Redis eviction: noeviction$/m);
  expect(stdout).toMatch(/^warning +daemon: none is running/m);
  expect(stdout).toMatch(/requests left in the current window; as the service reports$/m);
  expect(stdout).toMatch(/^ok +clock: /m);
  expect(stdout).toMatch(/^ok +contract: all 106 operations$/m);
  expect(stdout).not.toContain('..\n');
  expect(stdout).not.toContain('wrong');
  // An embedded Redis is started by each command.
  await desk.keepRedis();
});

test('a data folder that cannot be used is wrong, and the cause is named', async () => {
  const file = join(desk.folder, 'in-the-way');
  writeFileSync(file, '');
  const embedded = { CARETAKER_DATA_DIR: join(file, 'data'), REDIS_URL: 'embedded' };
  const { code, stdout } = await desk.run(['doctor'], embedded);
  expect(code).toBe(3);
  expect(stdout).toMatch(
    /^wrong +data folder: The data folder .* cannot be created, since its path contains a file/m,
  );
});

test('a policy that refers to what the account does not have is named', async () => {
  const file = join(desk.folder, 'config/policies/wrong.yaml');
  const where = '!site.tags.exists(t, t.name == "renamed")';
  writeFileSync(
    file,
    `policies:\n  - name: wrong\n    job: site-sync\n    select: { filters: { tags: { in: ["99999"] } }, where: '${where}' }\n`,
  );
  const { code, stdout } = await desk.run(['doctor']);
  rmSync(file);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^warning +policy "wrong": .* no tag with the id "99999" \(select\.filters\.tags\)$/m,
  );
  expect(stdout).toMatch(/^warning +policy "wrong": .* no tag called "renamed" \(select\.where\)/m);
});

test('--json prints the same as one list', async () => {
  const checks = await desk.json<{ what: string; state: string }[]>(['doctor']);
  expect(checks.map(({ what }) => what)).toEqual(
    expect.arrayContaining(['configuration', 'Redis', 'daemon']),
  );
  expect(new Set(checks.map(({ state }) => state))).toEqual(new Set(['ok', 'warning']));
});

test('running daemons are named, and how the policy files differ that they have read', async () => {
  const other = join(desk.folder, 'other-policies');
  mkdirSync(other);
  const policies = (message: string) =>
    `policies:\n  - { name: notes, job: site-sync, with: { message: ${message} } }\n`;
  const file = join(desk.folder, 'config/policies/notes.yaml');
  writeFileSync(file, policies('here'));
  writeFileSync(join(other, 'notes.yaml'), policies('there'));
  const config = join(other, 'caretaker.yaml');
  writeFileSync(
    config,
    `accounts: { default: { base_url: '${sandbox.url}', token: ${sandbox.token} } }\npolicies: .\n`,
  );
  const first = desk.start(['daemon', '--roles', 'scheduler']);
  const second = desk.start(['daemon', '--roles', 'scheduler', '--config', config]);
  await Promise.all([first, second].map((daemon) => daemon.line(/the daemon is running/)));

  const { stdout } = await desk.run(['doctor']);

  expect(stdout).toMatch(/^ok +daemon: running: pid \d+ on /m);
  expect(stdout.replace(/\s+/g, ' ')).toMatch(
    new RegExp(
      `warning policies of the daemons: the policy notes differs between daemons: .*pid ${process.pid}`,
    ),
  );
  for (const daemon of [first, second]) daemon.signal('SIGTERM');
  await Promise.all([first.ended, second.ended]);
  rmSync(file);
});

test('a paused queue and a Redis out of memory are wrong, and every command that writes names the cause', async () => {
  const { redis } = await desk.keepRedis();
  const queues = openQueues(redis.store, keptLog());
  await queues.boards()[1]?.pause();
  const paused = await desk.run(['doctor']);
  const listed = await desk.run(['queues']);
  const resumed = await desk.run(['queues', 'resume']);
  expect(await queues.paused()).toEqual([]);
  await queues.close();
  expect(paused.code).toBe(3);
  expect(paused.stdout).toMatch(/^wrong +Redis: the queue "actions" is paused, and no entry/m);
  expect(listed.stdout).toMatch(/^actions +0 +0 +0 .*paused$/m);
  expect(resumed.stderr).toContain('Resumed: actions.');

  await redis.store.config('SET', 'maxmemory', '1mb');
  const full = await desk.run(['doctor']);
  const detached = await desk.run(['run', 'nightly-sync', '--detach']);
  await redis.store.config('SET', 'maxmemory', '0');
  expect(full.code).toBe(3);
  expect(full.stdout).toMatch(/^wrong +Redis: Redis is out of memory/m);
  expect(full.stdout).toMatch(
    /^warning +daemon: unknown: daemons cannot register themselves while Redis refuses writes/m,
  );
  expect(detached.code).toBe(3);
  expect(detached.stderr).toMatch(/^error: Redis is out of memory \(maxmemory\) and refuses to write/m);
  expect(detached.stderr).not.toContain('No daemon is running');
});

test('a held run is named with the commands for it, and continues once it is released', async () => {
  const { records } = await desk.keepRedis();
  const run = aRun({ id: 'nightly-sync.20261122T010000Z', account: 'default' });
  await records.runs.create(run, { concurrency: 1, targetMs: 60_000 });
  await records.runs.hold(run, { at: 2_000, since: 1_000 }, 'The run is held: Redis was restored.');

  const { stdout } = await desk.run(['doctor']);
  const shown = await desk.run(['runs', 'show', run.id]);
  const refused = await desk.run(['runs', 'resume', run.id]);
  expect((await records.runs.get(run.id))?.held).toBeDefined();
  const released = await desk.run(['runs', 'resume', run.id, '--release']);

  expect(stdout).toContain(`held run: ${run.id} is held, because Redis was restored to an older state`);
  expect(shown.stdout).toContain('The run is held: Redis was restored.');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('may be changed a second time') });
  expect(released).toMatchObject({ code: 0, stderr: expect.stringContaining(`${run.id} is released`) });
  expect((await records.runs.get(run.id))?.held).toBeUndefined();
});

test('it warns of a service whose description lacks an operation, and whose clock is wrong', async () => {
  const { code, stdout } = await doctorOf((request, response) => {
    const date = { date: new Date(Date.now() - 3_600_000).toUTCString() };
    if (!request.url?.endsWith('/openapi.json')) return sendJson(response, 200, noSites, date);
    const document = openApiDocument('') as { paths: Record<string, unknown> };
    const { '/tags': _, ...paths } = document.paths;
    sendJson(response, 200, { ...document, paths }, date);
  });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^warning +contract: the service no longer describes GET \/tags, POST \/tags$/m);
  expect(stdout).toMatch(/^warning +clock: (59m|1h) ahead of the clock of the service/m);
  expect(stdout).toContain(
    'the limit is requests_per_minute of the configuration, because the service does not report one',
  );
});

test('finished checks are printed while the service has not responded yet', async () => {
  let heard = () => {};
  const asked = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const service = await startFaultyService(() => heard());
  const started = desk.start(['doctor'], { CARETAKER_BASE_URL: service.url });
  await started.line(/daemon: /);
  await asked;
  expect(started.printed.stdout).toContain('Redis');
  expect(started.printed.stdout).not.toContain('account');
  await service.stop();
  await started.ended;
});

test('an unreachable Redis is wrong, and the checks that were therefore skipped are named', async () => {
  const { code, stdout } = await desk.run(['doctor'], { REDIS_URL: 'redis://127.0.0.1:9' });
  expect(code).toBe(3);
  expect(stdout).toMatch(/^wrong +Redis: /m);
  expect(stdout).toMatch(/^warning +account "default": not checked/m);
});

test('an incomplete configuration is wrong input, not an unreachable service: exit 2', async () => {
  const { code, stdout } = await desk.run(['doctor'], { CARETAKER_API_TOKEN: '' });
  expect(code).toBe(2);
  expect(stdout).toMatch(/^wrong +account "default": .*set CARETAKER_API_TOKEN/m);
});

test('a jump of the clock of Redis in the last hour is a warning', async () => {
  const { records, clock } = await desk.keepRedis();
  await noteClockJump(records.alerts, { at: clock.now(), byMs: -600_000 });

  const { code, stdout } = await desk.run(['doctor']);

  expect(code).toBe(0);
  expect(stdout).toMatch(/^warning +clock of Redis: the clock of Redis went back in the last hour/m);
});
