import type { AnyJob } from './job.ts';

/** The jobs there are, by name; `app` fills it from `jobs/` and hands it to whoever needs one. */
export interface Registry {
  get(name: string): AnyJob | undefined;
  names(): string[];
}

/** A registry of these jobs. A name taken twice is a mistake of the programmer and throws at once. */
export function createRegistry(jobs: readonly AnyJob[]): Registry {
  const byName = new Map<string, AnyJob>();
  for (const job of jobs) {
    if (byName.has(job.name)) throw new Error(`Two jobs are called "${job.name}".`);
    byName.set(job.name, job);
  }
  return { get: (name) => byName.get(name), names: () => [...byName.keys()].sort() };
}
