/**
 * `node test/bench/growth.mjs scale.json`: the table and the charts of "How it grows" in docs/performance.md, from what
 * `npm run bench -- --only scale --runs 5 --json` printed. Several files are read as one.
 */
import { readFileSync } from 'node:fs';

const figures = new Map(
  process.argv
    .slice(2)
    .flatMap((file) => JSON.parse(readFileSync(file, 'utf8')).figures)
    .map((figure) => [figure.figure, figure]),
);
const KB = 1 / 1024;

/** What is shown of each measurement: its name in the benchmark, what its values are multiplied by, digits from ten on. */
const columns = {
  time: { is: 'ms a target', title: 'ms a target' },
  cpu: { is: 'ms of CPU a target', title: 'ms of CPU a target' },
  commands: { is: 'commands a target', title: 'commands a target' },
  redis: { is: 'bytes of Redis memory a target', title: 'KB of Redis memory a target', times: KB },
  memory: { is: 'MB of memory of a worker', title: 'MB of memory of a worker' },
};
const accountColumns = {
  core: { is: '% of a core', title: '% of a core' },
  used: { is: 'percentage of the budget used', title: '% of the budget used', times: 100, digits: 1 },
  limited: { is: '429s', title: '429s' },
  memory: columns.memory,
  slow: { is: 'commands over 1 ms', title: 'commands over 1 ms' },
};

/** The rows, each with its name in the benchmark and, where it is in a chart, its label there. */
const sites = [
  { name: '1 run of 100 sites', label: '100' },
  { name: '1 run of 1,000 sites', label: '1,000' },
  { name: '1 run of 10,000 sites', label: '10,000' },
  { name: '1 run of 100,000 sites', label: '100,000' },
];
const history = [
  { name: '1 run of 1,000 sites', label: 'none' },
  {
    name: '1,000 sites after 100,000 outcomes',
    label: '100,000',
    shown: '1 run of 1,000 sites, after 100,000 outcomes of earlier runs',
  },
  {
    name: '1,000 sites after 1,000,000 outcomes',
    label: '1,000,000',
    shown: 'the same, after 1,000,000 outcomes',
  },
];
const workers = [
  { name: '1 worker', label: '1', shown: '1 run of 3,000 sites, 1 worker' },
  { name: '2 workers', label: '2', shown: 'the same, 2 workers' },
  { name: '4 workers', label: '4', shown: 'the same, 4 workers' },
];
const runs = [
  { name: '1 run of 10 sites', label: '1' },
  { name: '10 runs of 10 sites at once', label: '10' },
  { name: '100 runs of 10 sites at once', label: '100' },
  { name: '900 runs of 10 sites at once', label: '900' },
];
const accounts = [
  { name: '1 account at the limit', label: '1' },
  { name: '1 account at the limit, after 1,000,000 outcomes' },
  { name: '10 accounts at the limit', label: '10' },
  { name: '100 accounts at the limit', label: '100' },
];

/** Median, lowest and highest as they are shown; undefined if it was not measured. */
function measured({ name }, { is, times = 1, digits = 0 }) {
  const found = figures.get(`${name}: ${is}`);
  if (!found) return undefined;
  const shown = (value) => (Number.isInteger(value) ? `${value}` : value.toFixed(value < 9.95 ? 1 : digits));
  return [found.median, found.from, found.to].map((value) => shown(value * times));
}

/** `3.2`, or `3.2 (2.1 to 3.3)` where the measurements differ. */
function cell(row, column) {
  const values = measured(row, column);
  if (!values) return '';
  const [median, from, to] = values;
  return from === to ? median : `${median} (${from} to ${to})`;
}

function table(rows, shown) {
  const titles = Object.values(shown).map(({ title }) => title);
  const found = rows.filter((row) => Object.values(shown).some((column) => measured(row, column)));
  const lines = found.map(
    (row) =>
      `| ${[row.shown ?? row.name, ...Object.values(shown).map((column) => cell(row, column))].join(' | ')} |`,
  );
  if (found.length === 0) return '';
  return [`| | ${titles.join(' | ')} |`, `|${'---|'.repeat(titles.length + 1)}`, ...lines].join('\n');
}

/** A chart that begins at zero, of the rows that were measured; none of a single one. */
function chart(title, rows, column) {
  const labelled = rows.filter((row) => row.label !== undefined && measured(row, column));
  if (labelled.length < 2) return '';
  const values = labelled.map((row) => measured(row, column)[0]);
  return [
    '```mermaid',
    'xychart-beta',
    `  title "${title}"`,
    `  x-axis [${labelled.map(({ label }) => `"${label}"`).join(', ')}]`,
    `  y-axis "${column.title}" 0 --> ${Math.ceil(Math.max(...values) * 1.1)}`,
    `  bar [${values.join(', ')}]`,
    '```',
  ].join('\n');
}

const { time, cpu, commands, redis, memory } = columns;
const grown = [...sites, ...history.slice(1), ...workers, ...runs];
const parts = [
  table(grown, columns),
  chart('Time of a target, by the sites of a run', sites, time),
  chart('Commands in Redis for a target, by the sites of a run', sites, commands),
  chart('Redis memory of a target, by the sites of a run', sites, redis),
  chart('Memory of a worker, by the sites of a run', sites, memory),
  chart('Time of a target of a run of 1,000 sites, by the outcomes of earlier runs', history, time),
  chart('Time of a target, by the worker processes', workers, time),
  chart('CPU of a worker for a target, by the runs of ten sites at once', runs, cpu),
  table(accounts, accountColumns),
  chart('CPU of a worker, by the accounts at their limit', accounts, accountColumns.core),
];
process.stdout.write(`${parts.filter((part) => part !== '').join('\n\n')}\n`);
