import { coreReasons, type ReasonInfo, type Reasons } from '../run/reasons.ts';
import type { AnyJob } from './job.ts';
import { syncWatch } from './watch/sync.ts';
import { taskWatch } from './watch/task.ts';
import type { AnyWatchKind } from './watch/watch.ts';

/**
 * The jobs by name, with their watch kinds and reasons. `app` creates the registry from `jobs/` and passes it
 * on.
 */
export interface Registry {
  get(name: string): AnyJob | undefined;
  names(): string[];
  /** The watch kinds by name: tasks, syncs, and those of the jobs. */
  watches: ReadonlyMap<string, AnyWatchKind>;
  /** Why a target may have ended: the core's reasons and those that jobs declare. */
  reasons: Reasons;
}

/** Creates a registry of these jobs. Throws when a name is used twice, which is an error in the code. */
export function createRegistry(jobs: readonly AnyJob[]): Registry {
  const byName = new Map<string, AnyJob>();
  for (const job of jobs) add(byName, job.name, job, 'jobs');
  const watches = new Map<string, AnyWatchKind>();
  const brought = jobs.flatMap((job) => job.watches ?? []);
  for (const kind of [taskWatch, syncWatch, ...brought]) add(watches, kind.name, kind, 'kinds of watch');
  const reasons = new Map<string, ReasonInfo>();
  const declared = jobs.flatMap((job) => Object.entries(job.reasons ?? {}));
  for (const [code, info] of [...Object.entries(coreReasons), ...declared])
    add(reasons, code, info, 'reasons');
  return { get: (name) => byName.get(name), names: () => [...byName.keys()].sort(), watches, reasons };
}

function add<T>(all: Map<string, T>, name: string, one: T, what: string): void {
  if (all.has(name)) throw new Error(`Two ${what} are called "${name}".`);
  all.set(name, one);
}

/** @throws when no job of this process has the watch kind. */
export function watchKindOf({ watches }: Registry, name: string): AnyWatchKind {
  const kind = watches.get(name);
  if (!kind) throw new Error(`No job of this process has the watch kind "${name}".`);
  return kind;
}
