/** The command line with `--server`: a real daemon with its dashboard, and commands without access to Redis. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../src/app/daemon.ts';
import { main } from '../../src/cli/main.ts';
import { localCommands, redisCommands } from '../../src/cli/without-server.ts';
import { begunBatches, lastApproval } from '../../src/run/rollout.ts';
import type { Run } from '../../src/run/run.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import type { Ended } from '../support/cli.ts';
import { actingCommands } from '../support/commands.ts';
import { memoryFolder } from '../support/in-memory.ts';
import { TestIo } from '../support/io.ts';
import { quickSyncs } from '../support/quick-syncs.ts';

const PASSWORD = 'correct horse battery';
let world: World;
let daemon: Daemon;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(memoryFolder(), 'caretaker-server-'));
  writeFileSync(
    join(folder, 'sync.yaml'),
    `policies:
  - { name: sync, job: site-sync, schedule: { cron: "0 2 * * *" } }
  - { name: asked, job: site-sync, schedule: { cron: "0 3 * * *" }, approval: { when: always } }
  - name: rolled
    job: site-sync
    schedule: { cron: "0 4 * * *" }
    rollout: { batches: [1, 1], pause: 24h }
`,
  );
  world = await startWorld({
    sites: 4,
    seed: 3,
    // A daemon that has not been seen for 15 s of this clock counts as gone, and a run is refused.
    speedUp: 5,
    work: false,
    before: quickSyncs,
    policiesDir: folder,
    dashboard: { password: PASSWORD },
  });
  daemon = await startDaemon({ caretaker: world.caretaker, roles: ['worker', 'dashboard'] });
});
afterAll(async () => {
  await daemon.stop();
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function savedPlan(): Promise<string> {
  const file = join(folder, 'saved.plan.json');
  if (!existsSync(file)) expect(await caretaker(['plan', 'sync', '--out', file])).toMatchObject({ code: 0 });
  return file;
}

/** Runs a command that has no configuration and no Redis. */
async function caretaker(args: string[], more: Record<string, string> = {}): Promise<Ended> {
  const env = {
    CARETAKER_CONFIG: join(folder, 'none.yaml'),
    CARETAKER_SERVER: daemon.dashboard?.url ?? '',
    CARETAKER_SERVER_TOKEN: PASSWORD,
    ...more,
  };
  const io = new TestIo({ env, clock: world.clock });
  return { code: await main(args, io), ...io.printed };
}

test('a plan, a run and its report need no access to Redis', async () => {
  const plan = await caretaker(['plan', 'sync']);
  expect(plan).toMatchObject({ code: 0, stderr: '' });
  expect(plan.stdout).toMatch(/^sync \(site-sync\) would work on \d targets\./);

  const run = await caretaker(['run', 'sync', '--reason', 'asked by phone']);
  expect(run.stdout).toMatch(/^sync\.\S+ (succeeded|partial) in .*: \d succeeded/m);
  expect(run.code).toBe(/ partial in /.test(run.stdout) ? 1 : 0);
  const [, id = ''] = /^(sync\.\S+) /m.exec(run.stdout) ?? [];

  const shown = await caretaker(['runs', 'show', 'last', '--json']);
  expect(JSON.parse(shown.stdout)).toMatchObject({
    run: id,
    started_by: { kind: 'user', name: 'admin' },
  });
  const listed = await caretaker(['runs']);
  expect(listed.stdout).toContain(id);
  const retried = await caretaker(['runs', 'cancel', id]);
  expect(retried).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/has already ended: \w+.* \[RUN\]/),
  });

  const audit = await caretaker(['audit', '--what', 'policies.run', '--json']);
  expect(JSON.parse(audit.stdout)).toMatchObject([{ run: id, why: 'asked by phone', result: 'done' }]);
});

/** Starts a run, and waits until it is at what `is` says. */
async function startedUntil(policy: string, is: (run: Run) => boolean): Promise<string> {
  const id = (await caretaker(['run', policy, '--detach'])).stdout.trim();
  await world.ended(id, is);
  return id;
}

test('a plan shows the batches and the approval that a run would have', async () => {
  const { stdout } = await caretaker(['plan', 'rolled']);
  expect(stdout).toMatch(/^It would work in 3 batches:$/m);
  expect(stdout).toMatch(/^1 +1 target +1 +site-\d{4}$/m);
  expect(stdout).toMatch(/^3 +the rest +2 +site-\d{4}, site-\d{4}$/m);
  expect(stdout).not.toContain('approval');
  const asked = await caretaker(['plan', 'asked']);
  expect(asked.stdout).toMatch(
    /^It would wait up to 1d for an approval by approver or admin\. Every run of the policy needs an approval\.$/m,
  );
  expect(asked.stdout).not.toContain('batch');
});

test('runs are approved and rejected, with the words of a command on the machine', async () => {
  const none = await caretaker(['approvals']);
  expect(none).toEqual({ code: 0, stdout: '', stderr: 'No run waits for an approval.\n' });
  expect((await caretaker(['approvals', '--output', 'csv'])).stdout).toMatch(/^run,policy,.*,may_not\r?\n$/);
  const waits = ({ status }: Run) => status === 'awaiting-approval';
  const first = await startedUntil('asked', waits);

  const listed = await caretaker(['approvals']);
  expect(listed.code).toBe(0);
  expect(listed.stdout).toMatch(new RegExp(`^${first} +4 .*Every run of the policy needs an approval`, 'm'));
  const [waiting] = JSON.parse((await caretaker(['approvals', '--json'])).stdout);
  expect(waiting).toMatchObject({ run: first, targets: 4, may_not: null });
  const other = await caretaker(['approvals', 'approve', first, '--plan', 'another']);
  expect(other).toMatchObject({ code: 2, stderr: expect.stringMatching(/^error: .*another plan[^\n]*\n$/) });

  const [{ id: one } = { id: '' }] = await world.targets(first);
  const part = await caretaker(['approvals', 'reject', first, '--target', one]);
  expect(part).toMatchObject({ code: 0, stderr: `Rejected. ${first} waits on with 3 targets.\n` });
  const approve = ['approvals', 'approve', first, '--plan', waiting.plan, '--reason', 'looks right'];
  const approved = await caretaker(approve);
  expect(approved).toMatchObject({ code: 0, stderr: `${first} is approved: 3 targets to do.\n` });
  const end = await world.ended(first);
  expect(lastApproval(end)?.decided).toMatchObject({ is: 'approved', by: 'admin', reason: 'looks right' });

  const second = await startedUntil('asked', waits);
  const rejected = await caretaker(['approvals', 'reject', 'last']);
  expect(rejected).toMatchObject({ code: 0, stderr: `${second} is rejected: nothing of it is done.\n` });
  expect(await world.ended(second)).toMatchObject({ status: 'cancelled', detail: 'admin rejected it.' });
  expect(await caretaker(['approvals', 'approve', second])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/does not wait for an approval/),
  });
});

test('a pause of a rollout is skipped, and its next batch is started manually', async () => {
  const pauses = ({ rollout }: Run) => rollout?.is === 'pausing';
  const id = await startedUntil('rolled', pauses);

  const skipped = await caretaker(['runs', 'resume', id, '--reason', 'seen']);
  expect(skipped).toMatchObject({
    code: 0,
    stderr: `The pause of ${id} has ended: its gate is asked next.\n`,
  });
  const isAfter = (batch: number) => (run: Run) =>
    run.rollout !== undefined && pauses(run) && begunBatches(run.rollout) === batch;
  await world.ended(id, isAfter(2));
  const resumed = await caretaker(['runs', 'resume', id, '--ignore-gate']);
  expect(resumed).toMatchObject({ code: 0, stderr: `${id} continues with its next batch.\n` });

  expect((await world.ended(id)).rollout?.batches).toMatchObject([
    { pauseSkipped: { by: 'admin', reason: 'seen' } },
    { resumed: { by: 'admin' } },
    { targets: 2 },
  ]);
});

test('an unknown policy, a wrong token, an unreachable server and something else there are one sentence each', async () => {
  expect(await caretaker(['run', 'synk'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^error: [^\n]+\n$/),
  });
  const wrong = await caretaker(['runs'], { CARETAKER_SERVER_TOKEN: 'wrong' });
  expect(wrong.code).toBe(3);
  expect(wrong.stderr).toMatch(
    /^error: The server at \S+ refuses the token\. Check CARETAKER_SERVER_TOKEN\. \[SIGN_IN\]\n$/,
  );
  const away = await caretaker(['runs', '--server', 'http://127.0.0.1:9']);
  expect(away.code).toBe(3);
  expect(away.stderr).toMatch(
    /^error: The server at http:\/\/127\.0\.0\.1:9 cannot be reached \(ECONNREFUSED\)\..* \[SERVER\]\n$/,
  );
  const none = await caretaker(['runs'], { CARETAKER_SERVER_TOKEN: '' });
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('A server needs a token') });
});

test('a command that cannot work with a server says in one sentence why, and what to do instead', async () => {
  const refused = await caretaker(['validate', '--server', 'https://caretaker.example']);
  expect(refused).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'error: "caretaker validate" cannot be used with a server: it checks the files of this machine. Omit --server.\n',
  });
  expect((await caretaker(['backup', 'records.gz'])).stderr).toBe(
    'error: "caretaker backup" cannot be used with a server: it reads Redis itself. Omit --server, and unset CARETAKER_SERVER.\n',
  );
  // A token is made on this machine, also while CARETAKER_SERVER is set.
  expect(await caretaker(['user', 'token', 'ci'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('sha256:'),
  });
});

test('the budget of the server is shown with what was spent in the last hour, as without a server', async () => {
  await caretaker(['run', 'sync']);
  const shown = await caretaker(['budget']);
  expect(shown).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^default: \d+ requests per minute, /),
  });
  expect(shown.stdout).toMatch(/Last hour: \d+ requests: .*action \d+/);
  expect(shown.stdout).toMatch(/^ +\d+ by sync$/m);

  const [account] = JSON.parse((await caretaker(['budget', '--json'])).stdout).accounts;
  const sum = (counts: number[]) => counts.reduce((all, count) => all + count, 0);
  expect(account.last_hour.requests).toBeGreaterThan(0);
  expect(sum(Object.values(account.last_hour.by_class))).toBe(account.last_hour.requests);
  expect(sum(account.last_hour.by_policy.map((one: { requests: number }) => one.requests))).toBe(
    account.last_hour.requests,
  );
});

test('every command that is not refused works on the server, and opens nothing of this machine', async () => {
  const refused = new Set([...Object.keys(localCommands), ...Object.keys(redisCommands)]);
  // What they need besides their arguments.
  const options: Record<string, string[]> = {
    'freeze add': ['--for', '1h'],
    backfill: ['--from', '1d'],
    apply: ['--yes'],
    'findings acknowledge': ['--all', '--reason', 'known'],
    'notify resend': ['--dead'],
  };
  const optional = new Set(['plan', 'policies pause', 'policies resume']);
  // A saved plan is a file of this machine, and is read first.
  const saved = await savedPlan();
  // `mcp` asks nothing before a tool is called: see mcp.test.ts.
  const working = actingCommands().filter(({ words }) => !refused.has(words) && words !== 'mcp');
  // At the same time, because a command that changes something tries again after a second.
  const tried = working.map(async ({ words, command }) => {
    const given = command.registeredArguments
      .filter(({ required }) => required || optional.has(words))
      .map(() => 'x');
    const { stderr } = await caretaker([
      ...words.split(' '),
      ...(words === 'apply' ? [saved] : given),
      ...(options[words] ?? []),
      '--server',
      'http://127.0.0.1:9',
    ]);
    expect([words, stderr]).toEqual([words, expect.stringContaining('127.0.0.1:9 cannot be reached')]);
  });
  expect(tried.length).toBeGreaterThan(20);
  await Promise.all(tried);
  expect(existsSync(join(folder, '.caretaker'))).toBe(false);
});

test('an older server is recognised', async () => {
  const old = createServer((_request, response) => {
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end('{"error":{"code":"not_found","message":"There is no such endpoint"}}');
  });
  await new Promise<void>((resolve) => old.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(old.address() as AddressInfo).port}`;
  const answer = await caretaker(['freeze', 'list', '--server', url]);
  old.close();
  expect(answer).toMatchObject({ code: 3, stderr: expect.stringContaining('is older than this caretaker') });
});
