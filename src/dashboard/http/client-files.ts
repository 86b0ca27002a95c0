/** The files that pages load: style sheets, and the browser's TypeScript of `client/` as the build compiled it. */
import { readFile } from 'node:fs/promises';
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
  const content = name && (await readIfThere(new URL(name, isStyle ? client : compiled)));
  if (!content) return c.text('There is no such file.\n', 404);
  const type = isStyle ? 'text/css' : 'text/javascript';
  return c.body(content, 200, { 'Content-Type': `${type}; charset=UTF-8`, 'Cache-Control': 'no-cache' });
}

const readIfThere = (file: URL): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: unknown) => {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
