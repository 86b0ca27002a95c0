import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

interface Service {
  command?: unknown[];
  healthcheck: { test: unknown[] };
}

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the compose file runs Redis and the daemon, keeps the data of Redis, and runs the sandbox only when asked', async () => {
  const { services, volumes } = parse(await read('docker-compose.yml'), { merge: true });

  expect(Object.keys(services)).toEqual(['redis', 'sandbox', 'daemon']);
  expect(services.redis.command.join(' ')).toContain('--appendonly yes');
  expect(services.daemon).toMatchObject({
    restart: 'unless-stopped',
    environment: {
      REDIS_URL: 'redis://redis:6379',
      CARETAKER_DASHBOARD_PASSWORD: expect.stringMatching(/^\$\{CARETAKER_DASHBOARD_PASSWORD:\?.+\}$/),
    },
    depends_on: {
      redis: { condition: 'service_healthy' },
      sandbox: { condition: 'service_healthy', required: false },
    },
  });
  expect(services.sandbox.profiles).toEqual(['sandbox']);
  // The token of an account is in no command line.
  for (const { command = [] } of Object.values<Service>(services))
    expect(command.join(' ')).not.toContain('$');
  // A colon or a question mark in an unquoted word changes its meaning in YAML.
  for (const { command = [], healthcheck } of Object.values<Service>(services)) {
    for (const word of [...command, ...healthcheck.test]) expect(word).toBeTypeOf('string');
  }
  for (const { volumes: used = [] } of Object.values<{ volumes?: string[] }>(services)) {
    const named = used.map((volume) => volume.split(':')[0] ?? '').filter((name) => !name.startsWith('.'));
    expect(Object.keys(volumes)).toEqual(expect.arrayContaining(named));
  }
});

test('the image includes every file that its build copies', async () => {
  const copied = [...(await read('Dockerfile')).matchAll(/^COPY (?!--from)(.+) \S+$/gm)];
  const paths = copied.flatMap(([, sources]) => sources?.split(' ') ?? []);
  const allowed = (await read('.dockerignore')).match(/(?<=^!).+/gm) ?? [];

  expect(paths).toContain('package.json');
  for (const path of paths) {
    await access(new URL(`../../${path}`, import.meta.url));
    expect(allowed.some((one) => path === one || path.startsWith(`${one}/`))).toBe(true);
  }
});

test('the image runs the command as a user without rights', async () => {
  const last = (await read('Dockerfile')).split(/^FROM /m).at(-1) ?? '';
  const stepsOf = (wanted: string) =>
    [...last.matchAll(/^([A-Z]+) (.*)$/gm)].flatMap(([, is, rest]) => (is === wanted ? [rest] : []));

  expect(stepsOf('USER')).toEqual(['node']);
  expect(stepsOf('ENTRYPOINT')).toEqual(['["caretaker"]']);
  expect(stepsOf('CMD')).toEqual(['["daemon"]']);
  expect(stepsOf('EXPOSE')).toEqual(['8480']);
  expect(stepsOf('RUN').join()).toContain('ln -s /app/src/cli/bin.cjs /usr/local/bin/caretaker');
  // What the program reads besides its build: each is copied.
  const copied = stepsOf('COPY').join(' ');
  for (const path of ['package.json', 'node_modules', 'dist', 'src/cli/bin.cjs', 'config', 'docs/errors.md'])
    expect(copied).toContain(path);
});

test('the scripts that the docs name exist, and so do the files that they start', async () => {
  const { scripts } = JSON.parse(await read('package.json'));

  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['setup', 'build', 'demo', 'test']));
  for (const [file] of Object.values(scripts)
    .join(' ')
    .matchAll(/src\/\S+/g)) {
    await access(new URL(`../../${file}`, import.meta.url));
  }
  await access(new URL('../../.ci/run', import.meta.url), constants.X_OK);
});
