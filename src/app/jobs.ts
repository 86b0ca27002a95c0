/** Loads `jobs/`: every file there that exports a job adds a kind of work; nothing else has to be told about it. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AnyJob } from '../job/job.ts';
import { createRegistry, type Registry } from '../job/registry.ts';

const folder = new URL('../../jobs/', import.meta.url);

let loading: Promise<Registry> | undefined;

/** The jobs of this program; read once. */
export function loadJobs(): Promise<Registry> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Registry> {
  const files = readdirSync(fileURLToPath(folder)).filter((file) => /^[a-z0-9-]+\.(js|ts)$/.test(file));
  const modules = await Promise.all(files.sort().map((file) => import(new URL(file, folder).href)));
  return createRegistry(modules.flatMap((exported: object) => Object.values(exported).filter(isJob)));
}

const isJob = (value: unknown): value is AnyJob =>
  typeof value === 'object' &&
  value !== null &&
  'act' in value &&
  'candidates' in value &&
  'reconcile' in value;
