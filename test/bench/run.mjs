/**
 * `npm run bench [-- --runs 5 --only night,start --json]`: measures the figures of docs/performance.md on
 * this machine. `script`, `schedule`, `readers`, `dashboard` and `scale` are measured once unless `--runs` is given; five
 * runs of the others take a quarter of an hour. A speed is meaningful only compared with others of the same measurement.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { figures, toReach } from './figures.mjs';

const names = figures.flatMap(({ name, also = [] }) => [name].concat(also));
const usage = `npm run bench [-- --runs 5 --only ${names.join(',')} --json]; --runs takes a number from 1\n`;
const options = {
  runs: { type: 'string' },
  only: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
};
function asked() {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    process.stderr.write(`${error.message}\n${usage}`);
    process.exit(2);
  }
}
const values = asked();
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}
const runs = Number(values.runs ?? 5);
const wanted = values.only?.split(',');
const unknown = wanted?.filter((name) => !names.includes(name)) ?? [];
if (!(runs >= 1) || unknown.length > 0) {
  process.stderr.write(usage);
  process.exit(2);
}

const samples = new Map();
const isWanted = ({ name, also }) => !wanted || wanted.includes(name) || wanted.includes(also);
for (const { name, measure, once } of figures.filter(isWanted)) {
  const times = once && values.runs === undefined ? 1 : runs;
  for (let i = 1; i <= times; i += 1) {
    process.stderr.write(`${name} ${i} of ${times}\n`);
    for (const [figure, value] of Object.entries(await measure())) {
      samples.set(figure, [...(samples.get(figure) ?? []), value]);
    }
  }
}

const versionOf = (name) =>
  JSON.parse(readFileSync(new URL(`../../node_modules/${name}/package.json`, import.meta.url), 'utf8'))
    .version;
const machine = {
  cpu: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
  memory: `${Math.round(totalmem() / 2 ** 30)} GB`,
  node: process.version,
  redis: execFileSync('redis-server', ['--version'], { encoding: 'utf8' }).match(/v=(\S+)/)?.[1],
  bullmq: versionOf('bullmq'),
};
const rows = [...samples].map(([figure, all]) => {
  const sorted = [...all].sort((a, b) => a - b);
  const median =
    (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
  const { most, least } = toReach[figure] ?? {};
  const reached =
    most === undefined && least === undefined ? null : median <= (most ?? Infinity) && median >= (least ?? 0);
  const target = most === undefined ? (least === undefined ? '' : `at least ${least}`) : `at most ${most}`;
  return { figure, median, from: sorted[0], to: sorted.at(-1), target, reached };
});
if (values.json) {
  process.stdout.write(`${JSON.stringify({ machine, runs, figures: rows }, undefined, 2)}\n`);
} else {
  const show = (value) => (Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 3 : 1));
  process.stdout.write(
    `${Object.entries(machine)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}; median of ${runs}\n\n`,
  );
  process.stdout.write('| figure | median | from – to | goal | |\n|---|---|---|---|---|\n');
  for (const { figure, median, from, to, target, reached } of rows) {
    const mark = reached === null ? '' : reached ? 'reached' : '**not reached**';
    process.stdout.write(
      `| ${figure} | ${show(median)} | ${show(from)} – ${show(to)} | ${target} | ${mark} |\n`,
    );
  }
}
