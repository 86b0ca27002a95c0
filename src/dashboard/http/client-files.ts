/**
 * The files that pages load: style sheets, and the browser's TypeScript of `client/` as the build compiled it.
 *
 * They are read once, and their address has a hash of them all. So browsers keep them without asking again, and a page
 * always loads the files that it was made for, also while a new build replaces them.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { systemCodeOf } from '../../errors.ts';
import type { Exchange } from './context.ts';

const client = new URL('../client/', import.meta.url);
/** Tests run the sources, and only the build has JavaScript. */
const compiled = import.meta.url.endsWith('.ts')
  ? new URL('../../../dist/src/dashboard/client/', import.meta.url)
  : client;

/** The later layers prevail, so the order of the files does not matter. */
const LAYERS = '@layer tokens, base, frame, components, pages;\n';
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
  const byName = new Map<string, string>();
  // All of `client/styles/` as one: a page is drawn after one request.
  byName.set('style.css', LAYERS + [...textsIn(new URL('styles/', client), '.css').values()].join(''));
  for (const [name, text] of textsIn(compiled, '.js')) byName.set(name, text);
  const hash = createHash('sha256');
  for (const [name, text] of byName) hash.update(`${name}\0${text}\0`);
  return { hash: hash.digest('hex').slice(0, 16), byName };
}

function textsIn(folder: URL, ending: string): Map<string, string> {
  const names = namesIn(folder).filter((name) => name.endsWith(ending));
  return new Map(names.sort().map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]));
}

/** Without a build there are no scripts, and pages are complete without them. */
function namesIn(folder: URL): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
