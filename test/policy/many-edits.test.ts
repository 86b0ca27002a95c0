/** Files of policies edited, broken, renamed and removed, under a scheduler that goes on firing. */
import { readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { watchPolicies } from '../../src/policy/policy-watcher.ts';
import { openRecords } from '../../src/records/records.ts';
import { tickOnce } from '../../src/schedule/scheduler.ts';
import type { Settings } from '../../src/settings/settings.ts';
import { folderWith } from '../settings/folder.ts';
import { heldClock } from '../support/held-clock.ts';
import { keptLog } from '../support/quiet.ts';
import { redisOfFile } from '../support/redis-of-file.ts';
import { sampleOf } from '../support/sample.ts';
import { type Chance, chance } from './mutations/changes.ts';
import { registry } from './tiny-job.ts';

const { redis } = await redisOfFile();
const SECOND = 1_000;

/** The operator's folder, and what ought to be active of it: each policy by its name, with its version. */
function aFolder(below: Chance) {
  const dir = folderWith({});
  /** Of each file the policies that it held when it was last in order, with their versions. */
  const files = new Map<string, Map<string, number>>();
  let edits = 0;

  const write = (file: string, text: string) => {
    writeFileSync(join(dir, file), text);
    // The clock of the file system is coarser than a test is quick.
    utimesSync(join(dir, file), edits, edits);
  };
  const writeGood = (file: string, letters: string) => {
    const policies = new Map<string, number>();
    for (const letter of 'abc'.slice(0, 1 + below(3))) policies.set(`${letters}-${letter}`, edits);
    const lines = [...policies].map(
      ([name, version]) =>
        `  - { name: ${name}, job: site-sync, schedule: { cron: "* * * * *" }, limits: { max_targets: ${version} } }\n`,
    );
    write(file, `policies:\n${lines.join('')}`);
    files.set(file, policies);
  };
  /** The part of a file's name that its policies share, wherever the file is renamed to. */
  const lettersOf = (file: string) => file.split('.')[0] ?? '';

  return {
    dir,
    edits: () => edits,
    /** Does something to one of the files that were not touched in this round; gives which. */
    edit(touched: ReadonlySet<string>): string[] {
      edits += 1;
      const letters = `f${below(12)}`;
      const file = [...files.keys()].find((one) => lettersOf(one) === letters);
      if (file === undefined) {
        if (touched.has(letters)) return [];
        writeGood(`${letters}.${edits}.yaml`, letters);
        return [letters];
      }
      const known = files.get(file);
      if (!known || touched.has(letters)) return [];
      switch (below(5)) {
        case 0:
          // A folder without any file counts as lost.
          if (files.size === 1) return [];
          rmSync(join(dir, file));
          files.delete(file);
          break;
        case 1: {
          const to = `${letters}.${edits}.yaml`;
          renameSync(join(dir, file), join(dir, to));
          files.delete(file);
          files.set(to, known);
          break;
        }
        case 2:
          write(file, `policies: ]${' '.repeat(below(9))}\n`);
          break;
        default:
          writeGood(file, letters);
      }
      return [letters];
    },
    inForce: () => new Map([...files.values()].flatMap((policies) => [...policies])),
  };
}

const COUNT = sampleOf(40, 1_000);

test(`after each of ${COUNT} edits what is active is what the files say, and nothing that was removed fires again`, async () => {
  const below = chance(6);
  const folder = aFolder(below);
  const clock = heldClock();
  const log = keptLog();
  const settings = { policiesDir: folder.dir, accounts: { default: {} }, notifications: {}, calendars: {} };
  const watcher = watchPolicies({ settings: () => settings as unknown as Settings, registry, clock, log });
  const records = openRecords(redis);
  const fired: [string, number][] = [];
  let firings = 0;
  const agenda = new Map();
  const tick = () =>
    tickOnce(
      {
        policies: watcher.policies,
        async fire({ name, limits }) {
          fired.push([name, limits.maxTargets]);
        },
        records,
        clock,
        log,
      },
      agenda,
    );

  while (folder.edits() < COUNT) {
    const touched = new Set<string>();
    for (let left = 1 + below(12); left > 0; left -= 1)
      for (const letters of folder.edit(touched)) touched.add(letters);

    await clock.advance(9 * SECOND);
    const expected = [...folder.inForce()].sort();
    const inForce = watcher.policies().map(({ name, limits }) => [name, limits.maxTargets]);
    expect(inForce.sort(), readdirSync(folder.dir).join()).toEqual(expected);

    await tick();
    await clock.advance(below(4) === 0 ? 51 * SECOND : SECOND);
    await tick();
    for (const one of fired) expect(expected).toContainEqual(one);
    firings += fired.length;
    fired.length = 0;
  }

  await watcher.close();
  expect(firings).toBeGreaterThan(COUNT / 4);
});
