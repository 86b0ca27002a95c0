import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment } from './variables.ts';

/** The environment with what `.env` in `cwd` adds to it. What is set already wins; without the file, nothing is added. */
export function environmentOf(cwd: string, env: Environment): Environment {
  const set = Object.entries(env).filter(([, value]) => value !== undefined);
  return { ...dotEnv(join(cwd, '.env')), ...Object.fromEntries(set) };
}

function dotEnv(file: string): Environment {
  try {
    return parseEnv(readFileSync(file, 'utf8')) as Environment;
  } catch {
    // No such file, or a folder of that name: a file that need not be there has nothing to say.
    return {};
  }
}
