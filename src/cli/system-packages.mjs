/** Programs of the system: whether they are there, and how this system installs them. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { env, getuid, stdin } from 'node:process';

/** For each package manager the commands that install something, tried in turn until one succeeds. */
const managers = {
  'apt-get': {
    redis: 'redis-server',
    chromium: 'chromium',
    commands: (name) => [
      ['apt-get', 'install', '-y', '--no-install-recommends', name],
      // A fresh image knows of no packages yet.
      ['apt-get', 'update'],
      ['apt-get', 'install', '-y', '--no-install-recommends', name],
    ],
  },
  dnf: { redis: 'redis', chromium: 'chromium', commands: (name) => [['dnf', 'install', '-y', name]] },
  apk: { redis: 'redis', chromium: 'chromium', commands: (name) => [['apk', 'add', '--no-cache', name]] },
  pacman: {
    redis: 'valkey',
    chromium: 'chromium',
    commands: (name) => [['pacman', '-Sy', '--noconfirm', name]],
  },
  brew: { redis: 'redis', chromium: 'chromium', commands: (name) => [['brew', 'install', name]] },
};

/** The first of these programs that is on the PATH. */
export function findProgram(...names) {
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean);
  return names.find((name) => folders.some((folder) => isExecutable(join(folder, name))));
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * How this system installs `what`: the command to show to a person, and a function that does it.
 *
 * @param {'redis' | 'chromium'} what
 * @returns {{ command: string, install: () => { ok: boolean, output: string } } | undefined} nothing when the
 * system has no package manager that we know, or this user may not use it
 */
export function installerOf(what) {
  const manager = Object.keys(managers).find((name) => findProgram(name) !== undefined);
  if (manager === undefined) return undefined;
  const prefix = manager === 'brew' || getuid?.() === 0 ? [] : sudo();
  if (prefix === undefined) return undefined;
  const { [what]: name, commands } = managers[manager];
  const lines = commands(name).map((line) => [...prefix, ...line]);
  return { command: lines[0].join(' '), install: () => runUntilDone(lines) };
}

/** Without somebody to type a password, sudo must not ask for one. */
function sudo() {
  if (findProgram('sudo') === undefined) return undefined;
  return stdin.isTTY ? ['sudo'] : ['sudo', '-n'];
}

function runUntilDone(lines) {
  let output = '';
  for (const [index, [program, ...args]] of lines.entries()) {
    const result = spawnSync(program, args, {
      stdio: ['inherit', 'pipe', 'pipe'],
      encoding: 'utf8',
      env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    output += `$ ${[program, ...args].join(' ')}\n${result.stdout ?? ''}${result.stderr ?? ''}`;
    const isUpdate = args.includes('update');
    if (result.status === 0 && !isUpdate) return { ok: true, output };
    if (isUpdate && index === lines.length - 1) break;
  }
  return { ok: false, output };
}
