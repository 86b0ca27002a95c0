/**
 * The files that pages load: a style sheet and a script, which the build makes of `client/`.
 *
 * They are read once, and their address has a hash of them all. So browsers keep them without asking again, and a page
 * always loads the files that it was made for, also while a new build replaces them.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Exchange } from './context.ts';

const KEPT = 'private, max-age=31536000, immutable';

interface ClientFiles {
  hash: string;
  byName: ReadonlyMap<string, string>;
}

let files: ClientFiles | undefined;

/** The address of a file. */
export function clientPath(name: string): string {
  files ??= readFiles();
  return `/client/${files.hash}/${name}`;
}

/** Sends a file. Under the hash of other files, of a process before or after an upgrade, browsers do not keep it. */
export function sendClientFile(c: Exchange): Response {
  files ??= readFiles();
  const [hash, name = ''] = c.req.path.split('/').slice(2);
  const content = files.byName.get(name);
  if (content === undefined) return c.text('There is no such file.\n', 404);
  return c.body(content, 200, {
    'Content-Type': `${name.endsWith('.css') ? 'text/css' : 'text/javascript'}; charset=UTF-8`,
    'Cache-Control': hash === files.hash ? KEPT : 'no-store',
  });
}

function readFiles(): ClientFiles {
  const byName = new Map(filesOfBuild() ?? filesOfCheckout());
  const hash = createHash('sha256');
  for (const [name, text] of byName) hash.update(`${name}\0${text}\0`);
  return { hash: hash.digest('hex').slice(0, 16), byName };
}

/** In a build they are beside its modules. */
function filesOfBuild(): [string, string][] | undefined {
  const folder = new URL('./client/', import.meta.url);
  if (!existsSync(new URL('style.css', folder))) return undefined;
  return readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]);
}

/** Tests run the sources. */
function filesOfCheckout(): [string, string][] {
  const { clientFiles } = createRequire(import.meta.url)('#root/scripts/bundle.mjs') as {
    clientFiles(root: string): { path: string; contents: string }[];
  };
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  return clientFiles(root).map(({ path, contents }) => [basename(path), contents]);
}
