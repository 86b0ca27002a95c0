/**
 * Daemons in processes of their own, whose policy files differ. Only this shows the daemons as they are started;
 * `policy-agreement.test.ts` has the decisions in one process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { startWorld, type World } from '../support/caretaker.ts';

const MINUTE = 60_000;
/** A minute takes fifteen seconds: a daemon that stalls for less than four is not considered dead. */
const SPEED = 4;

let world: World;
let folder: string;
const daemons = new Set<ChildProcess>();

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'caretaker-policies-'));
  world = await startWorld({ sites: 1, speedUp: SPEED, work: false });
});
afterEach(async () => {
  const ends = [...daemons].map((child) => once(child, 'exit'));
  for (const child of daemons) child.kill('SIGKILL');
  await Promise.all(ends);
  daemons.clear();
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
});

const policy = (name: string, message: string, cron = '* * * * *') => `  - name: ${name}
    job: site-sync
    schedule: { cron: "${cron}", overlap: allow }
    with: { message: ${message} }
`;

/** Writes a folder with one policy file of the given age. */
function files(name: string, ageMs: number, ...policies: string[]): string {
  const dir = join(folder, name);
  mkdirSync(dir);
  const file = join(dir, 'policies.yaml');
  writeFileSync(file, `policies:\n${policies.join('')}`);
  const changed = (world.clock.from - ageMs) / 1_000;
  utimesSync(file, changed, changed);
  return dir;
}

interface Running {
  child: ChildProcess;
  /** The log of the daemon so far. */
  log(): string[];
}

async function startDaemon(policiesDir: string): Promise<Running> {
  const { caretaker, clock } = world;
  const facts = {
    settings: { ...caretaker.settings, policiesDir },
    clock: clock.shared(),
    roles: ['scheduler'],
  };
  const child = spawn(process.execPath, [script, JSON.stringify(facts)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  daemons.add(child);
  child.once('exit', () => daemons.delete(child));
  let said = '';
  child.stderr.on('data', (text: Buffer) => {
    said += text;
  });
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  if (child.exitCode !== null) throw new Error(`The daemon ended:\n${said}`);
  const log = () =>
    said
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { msg?: string }).msg ?? '');
  return { child, log };
}

const script = fileURLToPath(new URL('./daemon-with-files.mjs', import.meta.url));

/** The next full minute that is at least half a minute away. */
const nextMinute = () => Math.ceil((world.clock.now() + MINUTE / 2) / MINUTE) * MINUTE;

const ledgerOf = (name: string, from: number, to: number) =>
  world.caretaker.records.ledger.between(name, from, to, 1_000);

/** Resolves when every policy has a record of the scheduled time. */
async function recorded(names: readonly string[], time: number): Promise<void> {
  for (const name of names)
    while ((await ledgerOf(name, time, time)).length === 0) await systemClock.sleep(100);
}

/** The message that a run of a policy was to create, according to the policy stored with the run. */
async function messageOf(run: string | undefined): Promise<unknown> {
  const json = (await world.caretaker.records.runs.get(run ?? ''))?.policyJson ?? '{}';
  return ((JSON.parse(json) as Partial<Policy>).options as { message?: string } | undefined)?.message;
}

test('two daemons with different policy files record each scheduled time once, with the version that was changed last, and name the difference', async () => {
  const old = await startDaemon(
    files('old', 3_600_000, policy('shared', 'old'), policy('same', 'same'), policy('only-old', 'old')),
  );
  const fresh = await startDaemon(
    files('fresh', 60_000, policy('shared', 'fresh'), policy('same', 'same'), policy('only-fresh', 'fresh')),
  );
  const names = ['shared', 'same', 'only-old', 'only-fresh'];
  const first = nextMinute();
  const times = [first, first + MINUTE];
  await recorded(names, first);
  const named = ({ log }: Pick<typeof old, 'log'>) =>
    // A daemon whose sign of life comes late, on a busy machine, counts as gone; then the difference is new again.
    new Set(log().filter((line) => line.includes('differs between daemons')));
  while ([old, fresh].some((one) => named(one).size < 3)) await systemClock.sleep(100);

  // The daemon with the active version stops: the version of the other one becomes active.
  fresh.child.kill('SIGKILL');
  const left = ['shared', 'same', 'only-old'];
  await recorded(left, first + MINUTE);

  for (const name of left) {
    const ledger = await ledgerOf(name, first, first + MINUTE);
    expect(ledger.map(({ scheduledFor, is }) => [scheduledFor, is])).toEqual(
      times.map((time) => [time, 'ran']),
    );
  }
  expect((await ledgerOf('only-fresh', first, first)).map(({ is }) => is)).toEqual(['ran']);
  const shared = await ledgerOf('shared', first, first + MINUTE);
  expect(await Promise.all(shared.map(({ run }) => messageOf(run)))).toEqual(['fresh', 'old']);

  const [a, b] = [old, fresh].map(({ child }) => `${hostname()} (pid ${child.pid})`);
  const differences = [
    `the policy only-fresh differs between daemons: the version of ${b} is active, ${a} does not have it`,
    `the policy only-old differs between daemons: the version of ${a} is active, ${b} does not have it`,
    `the policy shared differs between daemons: the version of ${b} is active, ${a} has another version`,
  ];
  for (const one of [old, fresh]) expect([...named(one)]).toEqual(differences);
  expect(old.log()).toContain('all daemons have read the same policies again');
});
