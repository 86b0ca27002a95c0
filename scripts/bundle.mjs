/**
 * What a build consists of, made by esbuild. Loaded only when something is built.
 *
 * Our code and most packages are in chunks, all in one folder: what `import()` loads is a chunk of its own, and is read
 * when it is needed. Each job stays a file in `jobs/`, because `src/app/jobs.ts` loads that folder.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { buildSync, build as esbuild, formatMessagesSync } from 'esbuild';

/** Packages that read files of their own, or whose binary code is optional. Node loads them from `node_modules`. */
const external = ['@bull-board/*', 'msgpackr-extract', 'pdfkit'];

/** We print no message of zod in another language, and they are a third of it. */
const withoutLocales = {
  name: 'without the locales of zod',
  setup(build) {
    build.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({ contents: 'export {}' }));
  },
};

/** CommonJS packages call `require` for the modules of Node, which a module does not have. */
const REQUIRE =
  'import{createRequire as nodeRequire}from"node:module";const require=nodeRequire(import.meta.url);';

/**
 * The files of the program.
 *
 * @returns {Promise<{ ok: true, files: { path: string, contents: Uint8Array | string }[] } | { ok: false, output: string }>}
 */
export async function bundleProgram(root) {
  const bundle = await bundleModules(root, { main: 'src/cli/main.ts' });
  return bundle.ok ? { ...bundle, files: [...bundle.files, ...clientFiles(root)] } : bundle;
}

/**
 * Bundles modules, with everything that they import, and the jobs.
 *
 * @param {Record<string, string>} entries the path in the checkout of each module by its name in the bundle
 */
export async function bundleModules(root, entries) {
  // Where the files will be, for the places in the source maps.
  const outdir = join(root, 'dist/build');
  try {
    const { outputFiles, metafile } = await esbuild({
      absWorkingDir: root,
      entryPoints: { ...entries, ...jobsIn(root) },
      outdir,
      chunkNames: '[name]-[hash]',
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20.19',
      jsx: 'automatic',
      jsxImportSource: 'hono/jsx',
      external,
      plugins: [withoutLocales],
      minifySyntax: true,
      minifyWhitespace: true,
      sourcemap: true,
      sourcesContent: false,
      legalComments: 'none',
      metafile: true,
      write: false,
      logLevel: 'silent',
    });
    const files = outputFiles.map(({ path, contents, text }) => ({
      path: relative(outdir, path),
      contents: path.endsWith('.js') && /typeof require\b/.test(text) ? REQUIRE + text : contents,
    }));
    return { ok: true, files, metafile };
  } catch (error) {
    if (error.errors === undefined) throw error;
    return { ok: false, output: formatMessagesSync(error.errors, { kind: 'error' }).join('') };
  }
}

/** `jobs/<name>.ts` and `jobs/<name>/job.ts`. */
function jobsIn(root) {
  const names = readdirSync(join(root, 'jobs'), { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory()) return /^[a-z0-9-]+\.ts$/.test(entry.name) ? [entry.name.slice(0, -3)] : [];
    return existsSync(join(root, 'jobs', entry.name, 'job.ts')) ? [`${entry.name}/job`] : [];
  });
  return Object.fromEntries(names.map((name) => [`jobs/${name}`, `jobs/${name}.ts`]));
}

/** What browsers load: the script of the pages, and all style sheets as one, so that a page is drawn after one request. */
export function clientFiles(root) {
  const client = join(root, 'src/dashboard/client');
  const { outputFiles } = buildSync({
    absWorkingDir: client,
    entryPoints: ['live.ts'],
    bundle: true,
    format: 'esm',
    target: 'es2023',
    write: false,
    logLevel: 'silent',
  });
  const styles = readdirSync(join(client, 'styles')).sort();
  // The later layers prevail, so the order of the files does not matter.
  const style = ['@layer tokens, base, frame, components, pages;\n'].concat(
    styles.map((name) => readFileSync(join(client, 'styles', name), 'utf8')),
  );
  return [
    { path: 'client/live.js', contents: outputFiles[0].text },
    { path: 'client/style.css', contents: style.join('') },
  ];
}
