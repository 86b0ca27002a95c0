/** What a chaos story is made of. */
import type { Caretaker } from '../../src/app/caretaker.ts';
import type { OperationId } from '../../src/contract/operations.ts';
import type { Policy } from '../../src/policy/policy.ts';
import type { Run, Target } from '../../src/run/run.ts';
import type { JournaledEffect } from '../../src/sandbox/journal.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';

export interface Evidence {
  run: Run;
  targets: readonly Target[];
  /** The effects of its operations on the account since the run was started. */
  effects: readonly JournaledEffect[];
  /** All effects in the account. */
  allEffects: readonly JournaledEffect[];
  /** 0 for the first run, 1 for the second, which is fired as soon as the first has ended, and so on. */
  round: number;
  sandbox: Sandbox;
}

export interface Story {
  name: string;
  /** The operations of its runs; no other story at the same time uses them. */
  operations: readonly OperationId[];
  /** Prepares the account for the `at`th time, `now`, and returns what to run. */
  begin(sandbox: Sandbox, at: number, now: number): Scene;
  /** What is wrong at the end, after the last kill. Called again while it gives a `waitingFor`. */
  atEnd?(caretaker: Caretaker, sandbox: Sandbox): Promise<{ waitingFor?: string; wrong: string[] }>;
}

/** People beside a run, whose processes may be killed. */
export interface Staff {
  /** The run once `when` holds; undefined when that takes too long. */
  waitFor(run: string, when: (run: Run) => boolean): Promise<Run | undefined>;
  /** Waits for a random time, at most this long. */
  think(mostMs: number): Promise<void>;
  /**
   * Carries out an act in a process of its own, repeated with its key until it has an answer. Gives the error, if it
   * was refused.
   */
  carryOut(command: string, input: object, key: string): Promise<string | undefined>;
}

/** Policies that are run in quick succession, about the same targets. */
export interface Scene {
  /** The policy of each round, or the one of all. */
  policy: Partial<Policy> | ((round: number) => Partial<Policy>);
  only?: string[];
  /** How many runs there are; default 2. */
  rounds?: number;
  /** What happens in the account after a round; gives the milliseconds to wait before the next. */
  after?(round: number, now: number): number;
  /** What people do while a run is active; gives what is wrong. */
  people?(run: string, round: number, staff: Staff): Promise<string[]>;
  /** The expected number of targets of a run; undefined if it depends on the previous run. */
  planned(round: number): number | undefined;
  /** Statements in the records that are wrong. */
  lies(evidence: Evidence): Iterable<string>;
  /** What is wrong once everything was written to the sites, after the last kill. */
  recorded?(run: Run, targets: readonly Target[], sandbox: Sandbox): Iterable<string>;
}

/** Targets of one run. */
export const TARGETS = 40;

/** The next sites in turn: a site allows five syncs per day. */
export function nextSites(sandbox: Sandbox, at: number): string[] {
  const ids = sandbox.siteIds();
  return Array.from({ length: TARGETS }, (_, i) => ids[(at * TARGETS + i) % ids.length] ?? '');
}

/** All targets of a run. */
export async function targetsOf({ records }: Pick<Caretaker, 'records'>, run: string): Promise<Target[]> {
  const targets: Target[] = [];
  for await (const target of records.targets.all(run)) targets.push(target);
  return targets;
}

/** How often a site has a note with exactly this content. */
export const timesOn = (sandbox: Sandbox, site: string, content: string): number =>
  sandbox
    .site(site)
    .notes()
    .filter((one) => one === content).length;

export function countBy(
  effects: readonly JournaledEffect[],
  of: JournaledEffect['operation'],
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { operation, resource } of effects) {
    if (operation === of) counts.set(resource, (counts.get(resource) ?? 0) + 1);
  }
  return counts;
}

/** What is wrong with a record: the statements whose condition holds. */
export const wrongOf = (record: string, checks: readonly (readonly [boolean, string])[]): string[] =>
  checks.flatMap(([isWrong, says]) => (isWrong ? [`${record}, ${says}`] : []));
