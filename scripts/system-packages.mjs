/** Programs of the system: whether they are there, and how this system installs them. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { env, getuid, stdin } from 'node:process';

/** For each package manager the command that installs, and the names that it knows things by. */
const managers = {
  'apt-get': {
    install: ['apt-get', 'install', '-y', '--no-install-recommends'],
    // A fresh image knows of no packages yet.
    refresh: ['apt-get', 'update'],
    redis: 'redis-server',
    chromium: 'chromium',
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
  const { install, refresh, [what]: name } = managers[manager];
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

/** Without somebody to type a password, sudo must not ask for one. */
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
  const said = `${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}`;
  return { ok: status === 0, output: `$ ${[program, ...args].join(' ')}\n${said}` };
}
