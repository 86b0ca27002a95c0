/**
 * Runs each test with at most one mutant, and writes down how it ended and, in the round without mutants, which
 * mutants it came by.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { cwd, env, pid } from 'node:process';
import { clearTimeout, setTimeout } from 'node:timers';
import type { File, Task, Test } from '@vitest/runner';
import { VitestTestRunner } from 'vitest/runners';
import { getFn } from 'vitest/suite';

interface Round {
  count: number;
  /** By the name of a test: its mutant, and how long it may take. */
  tests?: Record<string, { mutant: number; limitMs: number }>;
}
const round: Round = JSON.parse(readFileSync(`${env['MUTATION_FOLDER']}/round.json`, 'utf8'));
const results = `${env['MUTATION_FOLDER']}/results-${pid}.jsonl`;
const write = (line: object) => appendFileSync(results, `${JSON.stringify(line)}\n`);

const reached = new Uint8Array(round.count);
let active = -1;
let endsAt = Number.POSITIVE_INFINITY;
Object.assign(globalThis, {
  __mutant(id: number): boolean {
    reached[id] = 1;
    if (id !== active) return false;
    // A loop that has no end any more ends here.
    if (now() > endsAt) throw new Error('This mutant takes too long.');
    return true;
  },
});

// Tests may hold the time.
const now = performance.now.bind(performance);

const nameOf = (test: Test) => `${relative(cwd(), test.file.filepath)} > ${test.fullTestName}`;

// biome-ignore lint/style/noDefaultExport: vitest takes its runner so.
export default class OneMutantEach extends VitestTestRunner {
  #begunAt = 0;

  onCollected(files: File[]): void {
    const skipUnplanned = (task: Task): void => {
      if (task.type === 'suite') task.tasks.forEach(skipUnplanned);
      else if (round.tests && !round.tests[nameOf(task)]) task.mode = 'skip';
    };
    files.forEach(skipUnplanned);
  }

  override async onBeforeTryTask(test: Test): Promise<void> {
    await super.onBeforeTryTask(test);
    const planned = round.tests?.[nameOf(test)];
    this.#begunAt = now();
    if (planned) write({ test: nameOf(test), mutant: planned.mutant, is: 'begun' });
    endsAt = this.#begunAt + (planned?.limitMs ?? Number.POSITIVE_INFINITY);
    reached.fill(0);
    active = planned?.mutant ?? -1;
  }

  async runTask(test: Test): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const limitMs = endsAt - now();
      if (limitMs < 1e9) timer = setTimeout(() => reject(new Error('late')), limitMs);
    });
    try {
      await Promise.race([getFn(test)(), late]);
    } finally {
      clearTimeout(timer);
      // What a test closes after itself, it closes with the code as it is.
      active = -1;
    }
  }

  onTaskFinished(test: Test): void {
    active = -1;
    write({
      test: nameOf(test),
      mutant: round.tests?.[nameOf(test)]?.mutant,
      is: test.result?.state === 'fail' ? 'failed' : 'passed',
      error: test.result?.errors?.[0]?.message.slice(0, 200),
      ms: Math.round(now() - this.#begunAt),
      reached: round.tests ? undefined : [...reached.keys()].filter((id) => reached[id]),
    });
  }
}
