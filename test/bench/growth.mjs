/**
 * `node test/bench/growth.mjs scale.json`: the tables of "How it grows" in docs/performance.md, from what
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

/** The rows, each with its name in the benchmark and, where that differs, the name in the table. */
const sites = [
  { name: '1 run of 100 sites' },
  { name: '1 run of 1,000 sites' },
  { name: '1 run of 10,000 sites' },
  { name: '1 run of 100,000 sites' },
];
const history = [
  {
    name: '1,000 sites after 100,000 outcomes',
    shown: '1 run of 1,000 sites, after 100,000 outcomes of earlier runs',
  },
  {
    name: '1,000 sites after 1,000,000 outcomes',
    shown: 'the same, after 1,000,000 outcomes',
  },
];
const workers = [
  { name: '1 worker', shown: '1 run of 3,000 sites, 1 worker' },
  { name: '2 workers', shown: 'the same, 2 workers' },
  { name: '4 workers', shown: 'the same, 4 workers' },
];
const runs = [
  { name: '1 run of 10 sites' },
  { name: '10 runs of 10 sites at once' },
  { name: '100 runs of 10 sites at once' },
  { name: '900 runs of 10 sites at once' },
];
const accounts = [
  { name: '1 account at the limit' },
  { name: '1 account at the limit, after 1,000,000 outcomes' },
  { name: '10 accounts at the limit' },
  { name: '100 accounts at the limit' },
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

const grown = [...sites, ...history, ...workers, ...runs];
const parts = [table(grown, columns), table(accounts, accountColumns)];
process.stdout.write(`${parts.filter((part) => part !== '').join('\n\n')}\n`);
