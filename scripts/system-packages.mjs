/** Programs of the system: whether they are installed, and how to install them. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { env, getuid, stdin } from 'node:process';

/** The install command of each package manager, and its package names. */
const managers = {
  'apt-get': {
    install: ['apt-get', 'install', '-y', '--no-install-recommends'],
    // A fresh image has no package lists.
    refresh: ['apt-get', 'update'],
    redis: 'redis-server',
    chromium: 'chromium',
    prometheus: 'prometheus',
  },
  dnf: { install: ['dnf', 'install', '-y'], redis: 'redis', chromium: 'chromium' },
  apk: { install: ['apk', 'add', '--no-cache'], redis: 'redis', chromium: 'chromium' },
  pacman: { install: ['pacman', '-Sy', '--noconfirm'], redis: 'valkey', chromium: 'chromium' },
  brew: { install: ['brew', 'install'], redis: 'redis', chromium: 'chromium' },
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
 * How to install `what` on this system: the command to show, and a function that runs it.
 *
 * @param {'redis' | 'chromium' | 'prometheus'} what
 * @returns {{ command: string, install: () => { ok: boolean, output: string } } | undefined} undefined when
 * the system has no known package manager or it is not known to have that, or this user may not use it
 */
export function installerOf(what) {
  const manager = Object.keys(managers).find((name) => findProgram(name) !== undefined);
  if (manager === undefined) return undefined;
  const prefix = manager === 'brew' || getuid?.() === 0 ? [] : sudo();
  if (prefix === undefined) return undefined;
  const { install, refresh, [what]: name } = managers[manager];
  if (name === undefined) return undefined;
  const line = [...prefix, ...install, name];
  return {
    command: line.join(' '),
    install() {
      const first = run(line);
      if (first.ok || refresh === undefined) return first;
      const steps = [first, run([...prefix, ...refresh]), run(line)];
      return { ok: steps[2].ok, output: steps.map((step) => step.output).join('') };
    },
  };
}

/** Without a terminal, sudo must not ask for a password. */
function sudo() {
  if (findProgram('sudo') === undefined) return undefined;
  return stdin.isTTY ? ['sudo'] : ['sudo', '-n'];
}

function run([program, ...args]) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    stdio: ['inherit', 'pipe', 'pipe'],
    encoding: 'utf8',
    env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  const text = `${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}`;
  return { ok: status === 0, output: `$ ${[program, ...args].join(' ')}\n${text}` };
}
