/** Help and messages for users who are new, or who make errors. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve, sep } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { groups } from '../../src/cli/program/help.ts';
import { actingCommands } from '../support/commands.ts';
import { memoryFolder } from '../support/in-memory.ts';
import { deskOfFile, NOWHERE } from './desk-of-file.ts';

const shipped = resolve(import.meta.dirname, '../../config');

const desk = deskOfFile({});

describe('help', () => {
  test.each([['-h'], ['--help'], ['help']])('%s lists every command', async (word) => {
    const { code, stdout, stderr } = await desk.run([word]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const listed = Object.values(groups).flatMap((commands) => Object.keys(commands));
    const known = new Set(actingCommands().map(({ words }) => words.split(' ')[0]));
    expect(listed.toSorted()).toEqual([...known].toSorted());
    for (const command of listed) expect(stdout).toMatch(new RegExp(`^[A-Z ][a-z ]{8}${command} `, 'm'));
    const lines = stdout.split('\n');
    expect(lines.length, 'it fits on a screen').toBeLessThanOrEqual(41);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });

  test('of a command is shown both ways, with the global options', async () => {
    const asked = await desk.run(['help', 'run']);
    expect(asked.stdout).toBe((await desk.run(['run', '-h'])).stdout);
    expect(asked.stdout).toContain('--dry-run');
    expect(asked.stdout).toContain('--config <file>');
  });

  test.each([
    ['help', 'runs', 'show'],
    ['policies', 'help', 'pause'],
  ])('of a command within a group is shown by: %s %s %s', async (...words) => {
    const asked = await desk.run(words);
    const [group, command] = words.filter((word) => word !== 'help');
    expect(asked.code).toBe(0);
    expect(asked.stdout).toContain(`Usage: caretaker ${group} ${command} [options]`);
  });

  test('of an operation of the API is the description of that operation', async () => {
    const asked = await desk.run(['help', 'api', 'listTags']);
    expect(asked).toEqual(await desk.run(['api', 'listTags', '--help']));
    expect(asked.stdout).toContain('GET /tags');
  });

  test.each([
    { args: ['runs', '--limit', '0'], says: /"caretaker runs --help" lists its commands and options/ },
    { args: ['freeze', 'add', '--until', '14:45'], says: /not "14:45" \(name the day too: today 14:45\)\./ },
    { args: ['help', 'runs', 'shwo'], says: /unknown command 'shwo': did you mean show\?/ },
    { args: ['runz'], says: /unknown command 'runz': did you mean run or runs\?[\s\S]*"caretaker --help"/ },
    {
      args: ['pause', 'x'],
      says: /unknown command 'pause': did you mean "caretaker policies pause" or "caretaker queues pause"\?/,
    },
    { args: ['resmue'], says: /did you mean "caretaker policies resume" or "caretaker runs resume" or/ },
    { args: ['runs', 'freeze'], says: /unknown command 'freeze': did you mean "caretaker freeze"\?/ },
    {
      args: ['runs', 'shwo', 'x'],
      says: /unknown command 'shwo': did you mean show\?[\s\S]*"caretaker runs --help"/,
    },
    { args: ['help', 'runz'], says: /unknown command 'runz'[\s\S]*"caretaker --help"/ },
    { args: ['policies', 'paus', 'x'], says: /did you mean pause\?/ },
    { args: ['run', '--dryrun', 'x'], says: /Did you mean --dry-run\?[\s\S]*"caretaker run --help"/ },
    { args: ['run'], says: /missing required argument 'policy'/ },
    { args: ['sandbox', '--port', '99999'], says: /from 0 to 65535/ },
    { args: ['sandbox', '--sites', '-1'], says: /whole number of at least 0/ },
    { args: ['sandbox', '--token', ''], says: /--token must not be empty/ },
    { args: ['sandbox', '--host', '203.0.113.9', '--port', '0'], says: /no address 203\.0\.113\.9/ },
    {
      args: ['sandbox', '--state', '/nowhere/at/all', '--port', '0'],
      says: /--state cannot be read or written: it does not exist/,
    },
    { args: ['schema', 'polcy'], says: /did you mean policy\?/ },
  ])('$args is a usage error, not a bug', async ({ args, says }) => {
    const { code, stdout, stderr } = await desk.run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(says);
    expect(stderr).not.toContain('mistake of ours');
  });

  test('a port in use is named', async () => {
    const other = createServer();
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    const { port } = other.address() as { port: number };

    const { code, stderr } = await desk.run(['sandbox', '--port', String(port)]);

    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `error: Port ${port} is in use. Choose another one with --port, or 0 for any free port.\n`,
    });
    await new Promise((closed) => other.close(closed));
  });
});

describe('init', () => {
  // The examples stay in the package.
  const yamlFiles = readdirSync(shipped, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.yaml') && !file.split(sep).includes('examples'),
  );
  const emptyDesk = () => {
    const folder = mkdtempSync(join(memoryFolder(), 'caretaker-init-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    return folder;
  };
  const initIn = (cwd: string) => desk.run(['init'], {}, cwd);

  test('fills an empty folder with the shipped files, which are valid, only once, and prints the next steps', async () => {
    const folder = emptyDesk();

    const { code, stdout, stderr } = await initIn(folder);

    expect(code).toBe(0);
    expect(stderr).toMatch(/caretaker doctor[\s\S]*caretaker plan nightly-sync/);
    for (const file of yamlFiles) {
      expect(stdout).toContain(`written  ${join('config', file)}`);
      expect(readFileSync(join(folder, 'config', file), 'utf8')).toBe(
        readFileSync(join(shipped, file), 'utf8'),
      );
    }
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('.caretaker/\n.env\n');
    expect((await desk.run(['validate'], {}, folder)).code).toBe(0);
    const shown = JSON.parse((await desk.run(['policies', '--json'], {}, folder)).stdout);
    expect(shown.filter(({ enabled }: never) => enabled).map(({ name }: never) => name)).toEqual([
      'update-check',
    ]);
    expect(shown).toHaveLength(5);

    // A second time, it adds nothing to a folder that has policies, nor what was deleted.
    rmSync(join(folder, 'config/policies/staging-cleanup.yaml'));
    rmSync(join(folder, 'config/tests'), { recursive: true });
    const again = await initIn(folder);
    expect(again.code).toBe(0);
    expect(again.stdout).toContain('kept     config/policies (already exists; nothing is added to it)');
    expect(existsSync(join(folder, 'config/policies/staging-cleanup.yaml'))).toBe(false);
    expect(existsSync(join(folder, 'config/tests'))).toBe(false);
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('.caretaker/\n.env\n');
  });

  test('does not change existing files, and adds the token and the data to .gitignore', async () => {
    desk.write('config/caretaker.yaml', '# mine\n');
    desk.write('.gitignore', 'node_modules');

    const { code, stdout } = await desk.run(['init']);

    expect(code).toBe(0);
    expect(stdout).toContain('kept     config/caretaker.yaml (already exists)');
    expect(stdout).toContain('written  .gitignore (now ignores .caretaker/ and .env)');
    expect(readFileSync(join(desk.folder, 'config/caretaker.yaml'), 'utf8')).toBe('# mine\n');
    expect(readFileSync(join(desk.folder, '.gitignore'), 'utf8')).toBe('node_modules\n.caretaker/\n.env\n');

    mkdirSync(join(desk.folder, 'node_modules'));
    desk.write('.gitignore', '.env\n');
    await desk.run(['init']);
    expect(readFileSync(join(desk.folder, '.gitignore'), 'utf8')).toBe('.env\n.caretaker/\nnode_modules/\n');
    rmSync(join(desk.folder, 'node_modules'), { recursive: true });
  });
});

test('a file with the token that everybody can read causes one warning on stderr', async () => {
  desk.write('.env', 'NOTHING=1\n');
  const warning = /^warning: \.env: Every user of this machine can read this file.* Run chmod 600 \.env\.$/m;
  chmodSync(join(desk.folder, '.env'), 0o644);
  for (const command of [['doctor'], ['policies', '--json']])
    expect((await desk.run(command)).stderr.match(new RegExp(warning, 'gm'))).toHaveLength(1);
  expect((await desk.run(['validate'])).stderr).toMatch(/Every user of this machine/);
  expect((await desk.run(['doctor'])).stdout).toMatch(
    /configuration: 1 warning in \.env: "caretaker validate"/,
  );

  chmodSync(join(desk.folder, '.env'), 0o600);
  expect((await desk.run(['policies'])).stderr).not.toContain('Every user');
  rmSync(join(desk.folder, '.env'));
});

test('without a name, the schemas are printed in one object', async () => {
  const printed = async (...args: string[]) => JSON.parse((await desk.run(['schema', ...args])).stdout);
  const all = await printed();
  expect(Object.keys(all)).toEqual(['policy', 'config', 'tests', 'plan']);
  expect(all.plan).toEqual(await printed('plan'));
});

test('an interrupted demo suggests no command for its deleted runs', async () => {
  const started = desk.start(['demo']);
  await started.line(/^Demo: nightly-sync/);
  started.signal('SIGINT');

  const { code, stderr } = await started.ended;

  expect(code).toBe(130);
  expect(stderr).toContain('Its simulated account');
  expect(stderr).not.toContain('caretaker runs');
});

test('a backfill of more than the maximum number of times is a usage error', async () => {
  const { code, stderr } = await desk.run(
    ['backfill', 'nightly-sync', '--from', '2010-01-01', '--dry-run'],
    NOWHERE,
  );
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr:
      'error: nightly-sync has more than 500 scheduled times in that range. Backfill a shorter range at a time. [BACKFILL]\n',
  });
});

test.each([
  { file: 'nope.json', says: 'The body cannot be read from nope.json: it does not exist.' },
  { file: 'config', says: 'The body cannot be read from config: it is a folder.' },
  { file: 'broken.json', text: '{\n  "tag": }', says: 'The body in broken.json is not valid JSON' },
  { file: 'empty.json', text: '\n', says: 'The body in empty.json is not valid JSON: it is empty.' },
])('a body that cannot be used is explained: $file', async ({ file, text, says }) => {
  if (text !== undefined) desk.write(file, text);
  const { code, stderr } = await desk.run(['api', 'createTag', '--body', file], NOWHERE);
  expect(code).toBe(2);
  expect(stderr).toContain(says);
  expect(stderr).not.toMatch(/ENOENT|EISDIR|JSON at position|Unexpected token|Expected/);
});

describe('validate', () => {
  test('rejects a folder without policies, and names the folder inside it that has some', async () => {
    const { code, stderr } = await desk.run(['validate', 'config']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'config: The folder holds no policy file (*.yaml, *.yml). Did you mean config/policies?\n',
    });
  });

  test('warns that no policy was checked when only the configuration is named', async () => {
    const { code, stderr } = await desk.run(['validate', 'config/caretaker.yaml']);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'ok: config/caretaker.yaml.\nwarning: No policy was checked, because no policy file was named.\n',
    });
  });

  test('shows a likely error as a warning, and accepts the policy', async () => {
    desk.write(
      'config/policies/wide.yaml',
      'policies: [{ name: wide, job: site-sync, select: { limit: 50 }, limits: { max_targets: 10 } }]\n',
    );
    const { code, stderr } = await desk.run(['validate', 'config/policies/wide.yaml']);
    expect(code).toBe(0);
    expect(stderr).toContain(
      'warning: config/policies/wide.yaml:1:59: The limit of 50 is above limits.max_targets',
    );
    expect(stderr).toContain('ok: config/caretaker.yaml and 1 policy.');

    expect(await desk.json(['validate', 'config/policies/wide.yaml'])).toMatchObject({
      policies: ['wide'],
      findings: [],
      warnings: [{ policies: ['wide'], path: 'policies[0].select.limit', line: 1, column: 59 }],
    });
  });

  test('an empty policies folder is an error, unless a file says that there are no policies', async () => {
    for (const file of readdirSync(join(desk.folder, 'config/policies')))
      rmSync(join(desk.folder, 'config/policies', file));
    const { code, stderr } = await desk.run(['validate']);
    expect(code).toBe(2);
    expect(stderr).toContain(
      'config/policies: The policies folder has no policy file (*.yaml, *.yml). To have',
    );

    desk.write('config/policies/none.yaml', 'policies: []\n');
    const none = await desk.run(['validate']);
    expect(none.code).toBe(0);
    expect(none.stderr).toContain('warning: There are no policies in config/policies.');
  });
});
