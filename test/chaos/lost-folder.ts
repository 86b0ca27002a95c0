/**
 * The policies folder disappears, is emptied and comes back, while daemons that read it are killed and started again:
 * every policy keeps firing.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { startWorld } from '../support/caretaker.ts';
import { atWork, kill, start } from './processes.ts';

const names = ['one', 'two', 'three'];
const text = (name: string) =>
  `policies: [{ name: ${name}, job: site-sync, schedule: { cron: "* * * * *", catchup: 1h, overlap: allow } }]\n`;
const PATIENCE_MS = 60_000;

/** Gives what was wrong. `random` gives numbers from 0 to 1. */
export async function loseFolder(
  steps: number,
  random: () => number,
  say: (line: string) => void,
): Promise<string[]> {
  const root = mkdtempSync(join(tmpdir(), 'caretaker-lost-'));
  const [dir, away] = [join(root, 'policies'), join(root, 'away')];
  mkdirSync(dir);
  for (const name of names) writeFileSync(join(dir, `${name}.yaml`), text(name));
  const world = await startWorld({ sites: 2, work: false, speedUp: 20, policiesDir: dir });
  const { settings, records, clock } = world.caretaker;
  const facts = { settings, clock: world.clock.shared() };
  const daemons: ChildProcess[] = [];
  const startOne = async (at: number) => {
    const child = start('./folder-daemon.mjs', facts, 'ignore');
    daemons[at] = child;
    await atWork(child);
  };
  const killAll = (which: number[]) => Promise.all(which.map((at) => kill(daemons[at])));
  /** What does not fire after a time. */
  const silentSince = async (since: number): Promise<string[]> => {
    let silent = names;
    for (const begun = Date.now(); silent.length > 0 && Date.now() - begun < PATIENCE_MS; ) {
      await systemClock.sleep(200);
      const runs = await Promise.all(silent.map((policy) => records.runs.list({ policy, since, limit: 1 })));
      silent = silent.filter((_, i) => runs[i]?.length === 0);
    }
    return silent;
  };
  /** How the folder is lost, and comes back. */
  const losses = {
    away: { lose: () => renameSync(dir, away), restore: () => renameSync(away, dir) },
    emptied: {
      lose() {
        renameSync(dir, away);
        mkdirSync(dir);
      },
      restore() {
        rmSync(dir, { recursive: true });
        renameSync(away, dir);
      },
    },
  };
  const wrong: string[] = [];
  try {
    await Promise.all([startOne(0), startOne(1)]);
    wrong.push(...(await silentSince(clock.now())).map((name) => `${name} never fires`));
    for (let step = 0; step < steps; step += 1) {
      const how = random() < 0.5 ? 'away' : 'emptied';
      losses[how].lose();
      // Sometimes all daemons start without the folder.
      const killed = random() < 0.5 ? [0, 1] : [Math.floor(random() * 2)];
      await systemClock.sleep(random() * 500);
      await killAll(killed);
      await Promise.all(killed.map(startOne));
      const silent = await silentSince(clock.now());
      say(
        `folder ${how}, ${killed.length} killed: ${silent.length === 0 ? 'every policy fires' : silent.join()}`,
      );
      wrong.push(...silent.map((name) => `step ${step}: ${name} does not fire while the folder is ${how}`));
      losses[how].restore();
      await systemClock.sleep(random() * 500);
    }
  } finally {
    await killAll([0, 1]);
    await world.stop();
    rmSync(root, { recursive: true, force: true });
  }
  return wrong;
}
