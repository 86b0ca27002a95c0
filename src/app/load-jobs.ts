/** Loads `jobs/`: each `jobs/<name>.ts` and `jobs/<name>/job.ts` that exports a job adds a kind of work. */
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
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
    if (!entry.isDirectory()) return /^[a-z0-9-]+\.(cjs|ts)$/.test(entry.name) ? [entry.name] : [];
    return ['job.cjs', 'job.ts']
      .map((file) => `${entry.name}/${file}`)
      .filter((file) => existsSync(new URL(file, folder)));
  });
  const modules = await Promise.all(files.sort().map(read));
  return createRegistry(modules.flatMap((exported) => Object.values(exported as object).filter(isJob)));
}

function read(file: string): unknown {
  const url = new URL(file, folder);
  return file.endsWith('.cjs') ? createRequire(import.meta.url)(fileURLToPath(url)) : import(url.href);
}

const isJob = (value: unknown): value is AnyJob =>
  typeof value === 'object' &&
  value !== null &&
  'act' in value &&
  'candidates' in value &&
  'reconcile' in value;
