/**
 * `node scripts/set-up.mjs [--for test|demo|use]` prepares a fresh clone: npm packages, a Redis server, a
 * build. It announces each step in one line, and for `use` prints how to run the command. Plain JavaScript
 * without packages, because it runs before they are installed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { argv, env, execPath, exit, stderr, versions } from 'node:process';
import { fileURLToPath } from 'node:url';
import { findProgram, installerOf } from './system-packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const purposes = ['test', 'demo', 'use'];

const say = (line) => stderr.write(`${line}\n`);

function fail(sentence, output = '') {
  if (output !== '') say(output.trimEnd());
  say(sentence);
  exit(1);
}

function purposeOf(args) {
  const purpose = args[0] === '--for' ? args[1] : args[0]?.replace(/^--for=/, '');
  if (args.length === 0) return 'use';
  if (!purposes.includes(purpose)) fail(`Usage: node scripts/set-up.mjs [--for ${purposes.join('|')}]`);
  return purpose;
}

function checkNode() {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const wanted = engines.node.replace('>=', '').split('.').map(Number);
  const [major, minor] = versions.node.split('.').map(Number);
  if (major > wanted[0] || (major === wanted[0] && minor >= wanted[1])) return;
  fail(`Caretaker needs Node ${wanted.join('.')} or newer; this is ${versions.node}.`);
}

/** Whether the installed packages are those of the lock file, except optional ones. */
function hasPackages() {
  const noted = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(noted)) return false;
  const installed = JSON.parse(readFileSync(noted, 'utf8')).packages;
  const { '': _, ...wanted } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const isThere = ([path, { version, optional }]) =>
    installed[path] === undefined ? optional === true : installed[path].version === version;
  return Object.entries(wanted).every(isThere) && Object.keys(installed).every((path) => path in wanted);
}

function installPackages() {
  if (hasPackages()) return;
  say('Installing the npm packages (npm ci)');
  const options = ['ci', '--no-audit', '--no-fund'];
  const { status, stdout, stderr: errors } = spawnSync('npm', options, { cwd: root, encoding: 'utf8' });
  if (status !== 0) fail('The npm packages could not be installed.', `${stdout ?? ''}${errors ?? ''}`);
}

/**
 * Adds the command to the folder for the PATH. npm scripts and npx find it here too, without asking the
 * registry.
 */
function linkCommand() {
  const link = join(root, 'node_modules/.bin/caretaker');
  const isThere = lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() && existsSync(link);
  if (isThere) return;
  rmSync(link, { force: true });
  symlinkSync('../../src/cli/bin.cjs', link);
}

/** Tests start their own servers. Everything else can use one that runs elsewhere. */
function needsRedis(purpose) {
  if (findProgram('redis-server', 'valkey-server') !== undefined) return false;
  return purpose === 'test' || !(env.REDIS_URL || hasRedisInDotEnv());
}

function hasRedisInDotEnv() {
  const file = join(root, '.env');
  return existsSync(file) && /^\s*(export\s+)?REDIS_URL\s*=\s*\S/m.test(readFileSync(file, 'utf8'));
}

function installRedis(purpose) {
  if (!needsRedis(purpose)) return;
  const other = purpose === 'test' ? '' : ', or set REDIS_URL to a Redis of yours';
  const installer = installerOf('redis');
  if (installer === undefined) {
    fail(
      `redis-server is missing, and there is no known package manager to install it with. Install Redis or Valkey${other}.`,
    );
  }
  say(`Installing a Redis server (${installer.command})`);
  const { ok, output } = installer.install();
  if (!ok) fail(`Redis could not be installed. Install it manually${other}.`, output);
}

/** Without a browser the dashboard's tests are skipped with a message; in CI they are never skipped. */
function installBrowser() {
  if (!['true', '1'].includes(env.CI)) return;
  const browsers = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  if (findProgram(...browsers) !== undefined) return;
  const installer = installerOf('chromium');
  if (installer === undefined)
    fail('Chromium is missing for the tests, and there is no known package manager to install it with.');
  say(`Installing Chromium for the tests (${installer.command})`);
  const { ok, output } = installer.install();
  if (!ok) fail('Chromium could not be installed, and in CI no test is skipped.', output);
}

/** In CI alert rules and queries are tried with Prometheus where the system has it; elsewhere those tests are skipped. */
function installPrometheus() {
  if (!['true', '1'].includes(env.CI) || findProgram('prometheus') !== undefined) return;
  const installer = installerOf('prometheus');
  if (installer === undefined) return;
  say(`Installing Prometheus for the tests (${installer.command})`);
  const { ok, output } = installer.install();
  if (!ok)
    say(`${output.trimEnd()}\nPrometheus could not be installed, so the tests that need it are skipped.`);
}

async function build() {
  const { ensureBuild } = await import('./build.mjs');
  const result = await ensureBuild({ say });
  if (!result.ok) fail(result.why, result.output);
}

/** The schemas that the files in `config/` name for editors. Without them, editors only do not check. */
function writeSchemas() {
  const { status, stderr: errors } = spawnSync(
    execPath,
    [join(root, 'src/cli/bin.cjs'), 'schema', '--write', join(root, 'config/schemas')],
    { encoding: 'utf8' },
  );
  if (status !== 0) say(`The JSON Schemas for editors were not written: ${errors.trim()}`);
}

/** npm has added the folder to our PATH, so it is not known whether it is on the person's PATH. */
const sayReady = () =>
  say(`Ready. For the command "caretaker" in this terminal: export PATH="$PATH:${root}node_modules/.bin"`);

const purpose = purposeOf(argv.slice(2));
checkNode();
installPackages();
linkCommand();
installRedis(purpose);
// The checks build by themselves, after the type check.
if (purpose === 'test') {
  installBrowser();
  installPrometheus();
} else {
  await build();
  writeSchemas();
}
if (purpose === 'use') sayReady();
