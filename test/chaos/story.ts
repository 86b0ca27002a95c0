/** What a chaos story is made of. */
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
  /** 0 for the first run of the policy, 1 for the second, which is fired as soon as the first has ended. */
  round: number;
  sandbox: Sandbox;
}

export interface Story {
  name: string;
  /** The operations of its runs; no other story at the same time uses them. */
  operations: readonly OperationId[];
  /** Prepares the account for the `at`th time, `now`, and returns what to run. */
  begin(sandbox: Sandbox, at: number, now: number): Scene;
}

/** A policy that is run twice in quick succession, about the same targets. */
export interface Scene {
  policy: Partial<Policy>;
  only?: string[];
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
