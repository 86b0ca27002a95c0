/** Which daemons `doctor` calls running: a process that has ended or could not start is none. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { identityOnHost, startTimeOf } from '../../src/redis/embedded/processes.ts';
import { deskOfFile } from './desk-of-file.ts';

const desk = deskOfFile();
const opened = await desk.keepRedis();

const daemonChecks = async () =>
  (await desk.run(['doctor'])).stdout.split('\n').filter((line) => line.includes(' daemon: '));

test('a daemon that was killed a moment ago is not running', async () => {
  const child = spawn('sleep', ['60']);
  const pid = child.pid ?? 0;
  const own = `${process.pid} ${await startTimeOf(process.pid)}`;
  const identity = (await identityOnHost()).replace(own, `${pid} ${await startTimeOf(pid)}`);
  const now = opened.clock.now();
  const presence = {
    id: 'a',
    pid,
    host: hostname(),
    identity,
    roles: ['scheduler'],
    startedAt: now,
    seenAt: now,
  };
  await opened.records.presence.announce(presence);
  expect(await daemonChecks()).toEqual([expect.stringMatching(`^ok +daemon: running: pid ${pid} on `)]);

  child.kill('SIGKILL');
  await once(child, 'exit');

  expect(await daemonChecks()).toEqual([
    expect.stringMatching(/^warning +daemon: none is running/),
    expect.stringMatching(`^warning +daemon: pid ${pid} on .* has ended without a word`),
  ]);
  await opened.records.presence.withdraw('a');
});

test('a daemon that does not serve its dashboard yet is starting', async () => {
  const now = opened.clock.now();
  const presence = { id: 'a', pid: 7, host: 'elsewhere', startedAt: now, seenAt: now };
  const roles = ['scheduler', 'worker', 'dashboard'];
  await opened.records.presence.announce({ ...presence, roles });
  expect(await daemonChecks()).toEqual([
    expect.stringMatching(/^warning +daemon: none is running/),
    expect.stringMatching(/^warning +daemon: pid 7 on elsewhere is starting/),
  ]);

  await opened.records.presence.announce({ ...presence, roles, dashboardPort: 8480 });
  expect(await daemonChecks()).toEqual([expect.stringMatching(/^ok +daemon: running: pid 7 on elsewhere/)]);
  await opened.records.presence.withdraw('a');
});

test.each(['next', 'policies'])(
  'the times of "%s" are shown with whether a daemon starts anything at them',
  async (command) => {
    const none = 'No daemon with the role scheduler is running: nothing starts by schedule';
    expect((await desk.run([command])).stderr).toContain(none);

    const now = opened.clock.now();
    const presence = { id: 'a', pid: 7, host: 'elsewhere', startedAt: now, seenAt: now };
    await opened.records.presence.announce({ ...presence, roles: ['worker'] });
    expect((await desk.run([command])).stderr).toContain(none);
    await opened.records.presence.announce({ ...presence, roles: ['scheduler'] });
    expect((await desk.run([command])).stderr).not.toContain(none);
    await opened.records.presence.withdraw('a');
  },
);

test('a daemon whose port is used by another program is not running', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  expect((await desk.run(['daemon', '--port', String(port)])).code).toBe(2);

  server.close();
  expect(await opened.records.presence.running(opened.clock.now())).toEqual([]);
});
