import { expect, test } from 'vitest';
import { chaos } from './chaos.ts';

const seed = Number(process.env['CHAOS_SEED'] ?? 1);
const kills = Number(process.env['CHAOS_KILLS'] ?? 8);

/** The long form takes minutes and says how it goes. */
const say = (line: string) => {
  if (kills > 8) process.stdout.write(`${line}\n`);
};

test(
  `every effect happens once and every record is true, whoever is killed when (${kills} kills, seed ${seed})`,
  async () => {
    const report = await chaos({ seed, kills, say });

    say(JSON.stringify({ ...report, wrong: report.wrong.length }, undefined, 2));
    expect(report.wrong, `npm run chaos -- --kills ${kills} --seed ${seed} brings it back`).toEqual([]);
    expect(report.effects).toBeGreaterThan(0);
  },
  120_000 + kills * 10_000,
);
