/**
 * Runs with approvals and batches, one for each command at which a process is cut: each leaves a note of its own on
 * the sites that it works on, so that what it did to which site is seen in the account.
 */
import { expect, onTestFinished } from 'vitest';
import { apiCall } from '../../jobs/api-call/job.ts';
import type { Caretaker } from '../../src/app/caretaker.ts';
import type { Policy, RolloutRule } from '../../src/policy/policy.ts';
import type { Run, Target } from '../../src/run/run.ts';
import { aPolicy } from './builders.ts';
import { startWorld, type World } from './caretaker.ts';
import { workUntilCut } from './cut-process.ts';
import { sampleOf } from './sample.ts';

const HOUR_MS = 3_600_000;
export const SITES = 4;

/** Two batches of two sites; without pause, and with a gate that nothing closes. */
export const aRollout = (changes: Partial<RolloutRule> = {}): RolloutRule => ({
  batches: [{ count: 2 }],
  pauseMs: 0,
  maxFailed: { count: 0 },
  waitWhenClosedMs: 0,
  ...changes,
});
export const anApproval = (changes: Partial<NonNullable<Policy['approval']>> = {}) => ({
  when: 'always' as const,
  expiresMs: 1000 * HOUR_MS,
  ...changes,
});

/** A policy that leaves its name as a note on every site. */
export const noting = (name: string, changes: Partial<Policy>): Policy =>
  aPolicy({
    name,
    job: 'api-call',
    select: { from: 'listSites', filters: {} },
    options: apiCall.options.parse({ operation: 'createSiteNote', body: { note: { content: name } } }),
    // No test is about them, and a machine may be slow.
    timeout: { targetMs: 500 * HOUR_MS, runMs: 1000 * HOUR_MS },
    ...changes,
  });

export interface Cutting {
  policy: Partial<Policy>;
  /** Where the run is when the process begins; just created, if it is left out. */
  until?: (run: Run) => boolean;
  /** What happens when all runs are there. */
  meanwhile?(world: World): void;
  /** It is cut after every so many commands. Default: after each; in `npm test`, after every twentieth. */
  every?: number;
  /** What the process does that is cut. */
  act(caretaker: Caretaker, run: Run, targets: readonly Target[]): Promise<unknown>;
}

/** A run after the process was cut, before anybody else goes on. */
export interface CutRun {
  before: Run;
  /** After how many commands. */
  after: number;
  atCut: Run;
  /** Whether the process had done everything. */
  done: boolean;
}

export async function aWorld(): Promise<World> {
  const world = await startWorld({ sites: SITES, speedUp: 120, work: false });
  onTestFinished(() => world.stop());
  return world;
}

export async function runOf({ caretaker }: World, id: string): Promise<Run> {
  const run = await caretaker.records.runs.get(id);
  if (!run) throw new Error(`There is no run ${id}.`);
  return run;
}

/** The sites on which the policy has left its note, by id: one entry for each note. */
export const notedBy = ({ sandbox }: World, policy: string): string[] =>
  [...sandbox.siteIds()].sort().flatMap((id) =>
    sandbox
      .site(id)
      .notes()
      .flatMap((content) => (content === policy ? [id] : [])),
  );

/** Cuts a process after each of its commands: how many there are is found out with a run of its own. */
export async function cutEverywhere(
  world: World,
  { policy, until, meanwhile, act, every = sampleOf(20, 1) }: Cutting,
): Promise<CutRun[]> {
  const prepared = async (names: readonly string[]): Promise<Run[]> => {
    const fired = await Promise.all(names.map((name) => world.fire(noting(name, policy))));
    if (!until) return fired;
    const working = world.caretaker.engine.work(20);
    const runs = await Promise.all(fired.map((run) => world.ended(run, until)));
    await working.stop();
    return runs;
  };
  const once = async (run: Run, after: number): Promise<CutRun> => {
    const targets = await world.targets(run);
    const { done, sent } = await workUntilCut(world, after, (dying) => act(dying, run, targets));
    return { before: run, after: Math.min(after, sent), atCut: await runOf(world, run.id), done };
  };
  const [whole] = await prepared(['whole']);
  meanwhile?.(world);
  const first = whole && (await once(whole, Number.POSITIVE_INFINITY));
  expect(first?.done, 'what is not cut is done').toBe(true);
  const commands = first?.after ?? 0;
  const cutsAt = Array.from({ length: commands }, (_, after) => after).filter((after) => after % every === 0);
  const runs = await prepared(cutsAt.map((after) => `cut-after-${after}`));
  meanwhile?.(world);
  const cuts: CutRun[] = [];
  for (const [nth, run] of runs.entries()) cuts.push(await once(run, cutsAt[nth] ?? 0));
  return cuts;
}
