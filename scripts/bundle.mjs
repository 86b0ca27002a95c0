/**
 * What a build consists of, made by esbuild. Loaded only when something is built.
 *
 * Our code and most packages are in chunks, all in one folder: what `import()` loads is a chunk of its own, and is read
 * when it is needed. Each job stays a file in `jobs/`, because `src/app/load-jobs.ts` loads that folder.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { extname, join, relative } from 'node:path';
import { buildSync, build as esbuild, formatMessagesSync, transform } from 'esbuild';

/** Packages that read files of their own, or whose binary code is optional. Node loads them from `node_modules`. */
const external = ['@bull-board/*', 'msgpackr-extract', 'pdfkit'];
/** The one part of bull-board that needs no file, and BullMQ: it gets that of the build, so packages are not installed for it. */
const ADAPTER = '@bull-board/api/bullMQAdapter';
const isExternal = (path) =>
  path !== ADAPTER &&
  external.some((one) => (one.endsWith('*') ? path.startsWith(one.slice(0, -1)) : path === one));

/** We print no message of zod in another language, and they are a third of it. */
const withoutLocales = {
  name: 'without the locales of zod',
  setup(build) {
    build.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({ contents: 'export {}' }));
  },
};

/** BullMQ loads its clients of other databases and the calendar of its job schedulers, none of which we use. */
const withoutOtherBackends = {
  name: 'without the backends of BullMQ that are not used',
  setup(build) {
    const unused =
      /\/bullmq\/dist\/cjs\/(postgres\/|classes\/(valkey-glide|bun-redis))|\/(cron-parser|luxon)\//;
    build.onLoad({ filter: unused }, () => ({ contents: 'module.exports = {}' }));
  },
};

/** The MCP package checks forms that people fill in, which we do not use, and knows schemas of an earlier zod. */
const withoutForms = {
  name: 'without the forms of MCP',
  setup(build) {
    const unused =
      /\/@modelcontextprotocol\/sdk\/.*\/ajv-provider\.js$|\/(zod\/v3|zod-to-json-schema\/dist\/esm)\/index\.js$/;
    const contents = 'export class AjvJsonSchemaValidator {}; export const zodToJsonSchema = undefined;';
    build.onLoad({ filter: unused }, () => ({ contents }));
  },
};

const withOwnAdapter = {
  name: 'the adapter of bull-board with the BullMQ of the build',
  setup(build) {
    build.onResolve({ filter: /^@bull-board\/api\/bullMQAdapter$/, namespace: 'names' }, ({ path }) => ({
      path: createRequire(import.meta.url).resolve(path),
    }));
    build.onResolve({ filter: /^bullmq$/ }, ({ importer }) =>
      importer.includes('/@bull-board/') ? { path: './packages/bullmq.cjs', external: true } : undefined,
    );
  },
};

/** commander loads what starts subcommands that are programs of their own, which we do not have. */
const withoutPrograms = {
  name: 'without the subcommands of commander that are programs',
  setup(build) {
    build.onLoad({ filter: /\/commander\/lib\/command\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace("require('node:child_process')", '{}'),
    }));
  },
};

/**
 * In a bundle, a CommonJS package that our code loads with `import()` would have a default export only. This gives it
 * the names that it has in Node.
 */
const withNames = {
  name: 'names of CommonJS packages',
  setup(build) {
    build.onResolve({ filter: /^[^./#]/ }, ({ path, kind, importer, resolveDir }) => {
      const isOurs = kind === 'dynamic-import' && !importer.includes('/node_modules/');
      if (!isOurs || isBuiltin(path) || isExternal(path)) return undefined;
      return { path, namespace: 'names', pluginData: resolveDir };
    });
    build.onLoad({ filter: /./, namespace: 'names' }, async ({ path, pluginData: resolveDir }) => {
      const names = Object.keys(await import(path)).filter((name) => name !== 'module.exports');
      return { contents: `export { ${names.join(', ')} } from '${path}';`, resolveDir };
    });
  },
};

/**
 * The parts of the program, in the order in which processes load them: each is what these modules import, without the
 * parts before it. esbuild makes a file for each set of entry points that share a module, which would be 300 files, and a
 * file costs as much time as 30 kB of code. So what needs more than a little of a part gets all of it.
 */
const parts = [
  ['src/cli/main.ts'],
  ['src/settings/load-settings.ts'],
  ['src/cli/context.ts', 'src/run/steps.ts'],
  ['src/cli/commands/runs.ts'],
  ['jobs', 'src/cli/commands/validate.ts'],
  ['src/app/open-records.ts'],
  ['src/app/caretaker.ts'],
  ['src/control/commands.ts'],
  ['src/app/daemon.ts', 'src/cli/commands/daemon.ts'],
  ['src/dashboard/dashboard.ts'],
];
const A_LITTLE = 0.05;

/**
 * The files of the program.
 *
 * @returns {Promise<{ ok: true, files: { path: string, contents: Uint8Array | string }[] } | { ok: false, output: string }>}
 */
export async function bundleProgram(root) {
  const bundle = await bundleModules(root, { main: 'src/cli/main.ts' }, parts);
  return bundle.ok ? { ...bundle, files: [...bundle.files, ...clientFiles(root)] } : bundle;
}

/**
 * Bundles modules, with everything that they import, and the jobs.
 *
 * @param {Record<string, string>} entries the path in the checkout of each module by its name in the bundle
 * @param {string[][]} wanted the parts that are kept together
 */
export async function bundleModules(root, entries, wanted = []) {
  // Where the files will be, for the places in the source maps.
  const outdir = join(root, 'dist/build');
  const options = {
    absWorkingDir: root,
    entryPoints: { ...entries, ...jobsIn(root) },
    outdir,
    chunkNames: '[name]-[hash]',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    jsx: 'automatic',
    jsxImportSource: 'hono/jsx',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'silent',
  };
  try {
    const { packages, changed } = requiredPackages(root);
    const { metafile: known } = await esbuild({ ...options, packages: 'external' });
    const added = wanted.length > 0 ? keptTogether(root, known.inputs, wanted) : new Map();
    const plugins = [
      withoutLocales,
      withoutPrograms,
      withoutForms,
      withOwnAdapter,
      withNames,
      withChanges(changed, added),
    ];
    const { outputFiles, metafile } = await esbuild({
      ...options,
      external,
      plugins,
      sourcemap: 'inline',
      sourcesContent: false,
    });
    const modules = outputFiles.map(({ path, text }) => toCommonJs(relative(outdir, path), text));
    const files = await Promise.all([...modules, ...packages.map((one) => bundlePackage(root, one))]);
    return { ok: true, files: files.flat(), metafile };
  } catch (error) {
    if (error.errors === undefined) throw error;
    return { ok: false, output: formatMessagesSync(error.errors, { kind: 'error' }).join('') };
  }
}

/**
 * A file of the bundle as CommonJS, because V8 keeps the compiled code of scripts (`src/cli/compiled.cjs`), and Node that
 * of modules only in later versions. esbuild splits a bundle into modules alone.
 */
async function toCommonJs(path, text) {
  // As long as `import`, so that the places in the source map stay right.
  const source = text.replace(/\bimport(?=\("[^"]+"\))/g, LOAD);
  const loads = source.includes(LOAD) ? `const ${LOAD}=async path=>require(path);` : '';
  const names = source.includes('import.meta.url')
    ? 'const importMetaUrl=require("node:url").pathToFileURL(__filename).href;'
    : '';
  const { code, map } = await transform(source, {
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    define: { 'import.meta.url': 'importMetaUrl' },
    banner: `"use strict";${loads}${names}`,
    sourcefile: path,
    sourcemap: 'external',
    sourcesContent: false,
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'silent',
  });
  return [
    { path, contents: code },
    { path: `${path}.map`, contents: map },
  ];
}
const LOAD = '$chunk';

/**
 * The packages that our code loads with `require` when they are first used, and our modules that do, changed to load
 * their bundles.
 */
function requiredPackages(root) {
  const call = /(\brequire|\bload|createRequire\(import\.meta\.url\))\('([\w@][\w@/.-]*)'\)/g;
  const changed = new Map();
  const packages = new Set();
  for (const name of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const text = readFileSync(join(root, 'src', name), 'utf8');
    if (!text.includes('createRequire(')) continue;
    const contents = text.replace(call, (original, load, required) => {
      if (external.includes(required)) return original;
      packages.add(required);
      return `${load}('./packages/${required}.cjs')`;
    });
    changed.set(join(root, 'src', name), contents);
  }
  return { packages: [...packages], changed };
}

/** Lets esbuild see other contents of our modules: `changed` by path, and after these what is in `added`. */
const withChanges = (changed, added) => ({
  name: 'changed modules',
  setup(build) {
    build.onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
      if (!changed.has(path) && !added.has(path)) return undefined;
      const contents = (changed.get(path) ?? readFileSync(path, 'utf8')) + (added.get(path) ?? '');
      return { contents, loader: extname(path).slice(1) };
    });
  },
});

/** One file, since `require` of a module fails while another import of the same module is under way. */
async function bundlePackage(root, name) {
  const { outputFiles } = await esbuild({
    stdin: { contents: `module.exports = require('${name}');`, resolveDir: root },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    external,
    plugins: [withoutOtherBackends],
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    write: false,
    logLevel: 'silent',
  });
  return [{ path: `packages/${name}.cjs`, contents: outputFiles[0].contents }];
}

/** For each module that is loaded by `import()`: imports of the parts that it needs, as a whole. */
function keptTogether(root, inputs, wanted) {
  const importsOf = (path, kind) =>
    (inputs[path]?.imports ?? [])
      .filter((one) => !one.external && (one.kind === 'dynamic-import') === (kind === 'dynamic'))
      .map((one) => one.path);
  const reachedFrom = (paths) => {
    const reached = new Set(paths);
    for (const path of reached) for (const next of importsOf(path, 'static')) reached.add(next);
    return reached;
  };
  const jobs = Object.values(jobsIn(root));
  const assigned = new Set();
  const all = wanted.map((roots) => {
    const starts = roots.flatMap((one) => (one === 'jobs' ? jobs : [one])).filter((one) => one in inputs);
    const modules = [...reachedFrom(starts)].filter((path) => !assigned.has(path));
    for (const path of modules) assigned.add(path);
    return { starts, modules };
  });
  const sizeOf = (paths) => paths.reduce((sum, path) => sum + inputs[path].bytes, 0);
  const added = new Map();
  for (const path of [...jobs, ...Object.keys(inputs).flatMap((one) => importsOf(one, 'dynamic'))]) {
    const reached = reachedFrom([path]);
    const isNeeded = ({ modules }) =>
      sizeOf(modules.filter((one) => reached.has(one))) > A_LITTLE * sizeOf(modules);
    // A module that is in a part itself imports earlier ones only, so that no imports form a circle.
    const own = all.findIndex(({ modules }) => modules.includes(path));
    const earlier = own < 0 ? all : all.slice(0, own);
    const beside = own >= 0 && all[own].starts.includes(path) ? all[own].starts : [];
    const parts = [
      ...earlier.filter((part, index) => index === 0 || isNeeded(part)).flatMap(({ starts }) => starts),
      ...beside.filter((one) => !reached.has(one) && !reachedFrom([one]).has(path)),
    ];
    added.set(join(root, path), parts.map((one) => `\nimport ${JSON.stringify(join(root, one))};`).join(''));
  }
  return added;
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
