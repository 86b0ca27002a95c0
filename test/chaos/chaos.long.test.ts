import { afterAll, expect, test } from 'vitest';
import { killApply } from './apply.ts';
import { type ChaosReport, chaos, numbersFrom } from './chaos.ts';
import { type ConditionsName, conditions } from './conditions.ts';
import { loseFolder } from './lost-folder.ts';
import { lanes } from './stories.ts';

const seed = Number(process.env['CHAOS_SEED'] ?? 1);
/**
 * The short form is part of the long tests. `npm run chaos` takes minutes, prints its progress, and runs under all
 * conditions.
 */
const isShort = process.env['CHAOS_KILLS'] === undefined;
const kills = Number(process.env['CHAOS_KILLS'] ?? 4);
const asked = process.env['CHAOS_CONDITIONS'];
const names = (asked?.split(',') ??
  (isShort ? ['flaky'] : Object.keys(conditions))) as readonly ConditionsName[];
const unknown = names.find((name) => !Object.hasOwn(conditions, name));
if (unknown !== undefined)
  throw new RangeError(`Unknown conditions "${unknown}". Available: ${Object.keys(conditions).join(', ')}.`);
const stories = process.env['CHAOS_STORIES']?.split(',');
const APPLY = 'chaos-apply';
const known = [...lanes.flat().map(({ name }) => name), APPLY];
const unheard = stories?.find((name) => !known.includes(name));
if (unheard !== undefined)
  throw new RangeError(`Unknown story "${unheard}". Available: ${known.join(', ')}.`);
/** Each of the conditions has its own seed. */
const seedOf = (at: number) => seed + at;
const killsOf = (at: number) => Math.floor(kills / names.length) + (at < kills % names.length ? 1 : 0);

const say = (line: string) => {
  if (!isShort) process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
};

const reports: Record<string, ChaosReport> = {};
afterAll(() => {
  for (const [name, { kills: by, midScript, cuts, runs, effects, stories, wrong }] of Object.entries(
    reports,
  )) {
    const facts = { ...by, midScript, cuts, runs, effects, wrong: wrong.length };
    const columns = Object.entries(facts).map(([what, count]) => `${what} ${count}`.padEnd(12));
    say(`${name.padEnd(12)}${columns.join('')}`);
    for (const [story, own] of Object.entries(stories))
      say(`  ${story.padEnd(18)}runs ${own.runs}, kills meanwhile ${own.kills}, wrong ${own.wrong}`);
  }
});

/** Whether any of these is asked for. */
const isTold = stories?.some((name) => name !== APPLY) ?? true;
test.runIf(isTold).each(names.map((name, at) => [killsOf(at), name, seedOf(at)] as const))(
  'with %i kills, %s, every effect happens once and every record is correct',
  // A second attempt would hide what the first one found.
  { timeout: 600_000 + kills * 15_000, retry: 0 },
  async (count, name, own) => {
    say(`--- ${name}: ${count} kills, seed ${own}`);
    const report = await chaos({
      seed: own,
      kills: count,
      conditions: conditions[name],
      stories,
      olderCommit: process.env['CHAOS_OLDER'],
      say,
    });

    reports[name] = report;
    say(JSON.stringify(report.reasons));
    const again = `npm run chaos -- --kills ${count} --seed ${own} --conditions ${name} brings it back`;
    expect(report.wrong, again).toEqual([]);
    expect(report.effects).toBeGreaterThan(0);
  },
);

test.runIf(stories?.includes(APPLY) ?? true)(
  'with an `apply` that is killed and started again, its plan is applied once',
  { timeout: 600_000 + kills * 60_000, retry: 0 },
  async () => {
    const count = isTold ? Math.ceil(kills / 10) : kills;
    expect(await killApply(count, numbersFrom(seed), say)).toEqual([]);
  },
);

test.runIf(stories === undefined)(
  'with a policies folder that disappears while daemons are killed, every policy keeps firing',
  { timeout: 600_000 + kills * 15_000, retry: 0 },
  async () => {
    expect(await loseFolder(isShort ? 3 : Math.ceil(kills / 10), numbersFrom(seed), say)).toEqual([]);
  },
);
