/** Loads `jobs/`: each `jobs/<name>.ts` and `jobs/<name>/job.ts` that exports a job adds a kind of work. */
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AnyJob } from '../job/job.ts';
import { createRegistry, type Registry } from '../job/registry.ts';

/** In a build beside its modules, otherwise in the checkout. */
const folder =
  ['./jobs/', '../../jobs/'].map((path) => new URL(path, import.meta.url)).find((one) => existsSync(one)) ??
  new URL('./jobs/', import.meta.url);

let loading: Promise<Registry> | undefined;

/** All jobs; loaded once. */
export function loadJobs(): Promise<Registry> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Registry> {
  const files = readdirSync(fileURLToPath(folder), { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory()) return /^[a-z0-9-]+\.(js|ts)$/.test(entry.name) ? [entry.name] : [];
    return ['job.js', 'job.ts']
      .map((file) => `${entry.name}/${file}`)
      .filter((file) => existsSync(new URL(file, folder)));
  });
  const modules = await Promise.all(files.sort().map((file) => import(new URL(file, folder).href)));
  return createRegistry(modules.flatMap((exported: object) => Object.values(exported).filter(isJob)));
}

const isJob = (value: unknown): value is AnyJob =>
  typeof value === 'object' &&
  value !== null &&
  'act' in value &&
  'candidates' in value &&
  'reconcile' in value;
