import { readFileSync } from 'node:fs';

/** The version in `package.json`, which is three folders up in a build and two in a checkout. */
export const version: string = read('../../../package.json') ?? read('../../package.json') ?? 'unknown';

function read(path: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as { version?: string }).version;
  } catch {
    return undefined;
  }
}
