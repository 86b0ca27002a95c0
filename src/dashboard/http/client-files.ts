/** The files that pages load: style sheets, and the browser's TypeScript of `client/` as the build compiled it. */
import { readdir, readFile } from 'node:fs/promises';
import { systemCodeOf } from '../../errors.ts';
import type { Exchange } from './context.ts';

const client = new URL('../client/', import.meta.url);
/** Tests run the sources, and only the build has JavaScript. */
const compiled = import.meta.url.endsWith('.ts')
  ? new URL('../../../dist/src/dashboard/client/', import.meta.url)
  : client;

/** A name without slashes or further dots leads to no other folder. */
const ADDRESS = /^\/client\/([a-z-]+\.(?:css|js))$/;

/** Sends a file. Browsers keep it, and ask each time whether it changed: `app.ts` adds the ETag. */
export async function sendClientFile(c: Exchange): Promise<Response> {
  const [, name] = ADDRESS.exec(c.req.path) ?? [];
  const isStyle = name?.endsWith('.css');
  const content =
    name === 'style.css'
      ? await readStyles()
      : name && (await readIfThere(new URL(name, isStyle ? client : compiled)));
  if (!content) return c.text('There is no such file.\n', 404);
  const type = isStyle ? 'text/css' : 'text/javascript';
  return c.body(content, 200, { 'Content-Type': `${type}; charset=UTF-8`, 'Cache-Control': 'no-cache' });
}

/** The later layers prevail, so the order of the files does not matter. */
const LAYERS = '@layer tokens, base, frame, components, pages;\n';

/** All files of `client/styles/` as one: a page is drawn after one request. */
async function readStyles(): Promise<string> {
  const folder = new URL('styles/', client);
  const names = (await readdir(folder)).filter((name) => name.endsWith('.css')).sort();
  const styles = await Promise.all(names.map((name) => readFile(new URL(name, folder), 'utf8')));
  return LAYERS + styles.join('');
}

const readIfThere = (file: URL): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: unknown) => {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
