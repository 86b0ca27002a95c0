/** Completion in real shells: bash, zsh and fish. Shells that are not installed are skipped. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fastClock } from '../support/caretaker.ts';
import { sandboxOfFile } from './desk-of-file.ts';

const { desk } = await sandboxOfFile({ sites: 2, clock: fastClock(5) });
const { run } = await desk.json(['run', 'nightly-sync']);
const bin = resolve(import.meta.dirname, '../../src/cli/bin.cjs');
mkdirSync(join(desk.folder, 'bin'));
desk.write('bin/caretaker', `#!/bin/sh\nexec "${process.execPath}" "${bin}" "$@"\n`);
chmodSync(join(desk.folder, 'bin/caretaker'), 0o755);

const completed = async (...words: string[]) =>
  (await desk.run(['completion', 'bash', '--', ...words])).stdout.trim().split('\n');

describe('completion', () => {
  test.each([
    { typed: ['doc'], found: ['doctor'] },
    { typed: ['help', 'doc'], found: ['doctor'] },
    { typed: ['policies', 'p'], found: ['pause'] },
    { typed: ['run', '--dr'], found: ['--dry-run'] },
    { typed: ['run', '--conf'], found: ['--config'] },
    { typed: ['runs', '--output', ''], found: ['table', 'json', 'jsonl', 'csv', 'yaml'] },
    { typed: ['runs', '-o', 'y'], found: ['yaml'] },
    { typed: ['runs', '--output=y'], found: ['--output=yaml'] },
    { typed: ['runs', '--status', 'su'], found: ['succeeded'] },
    { typed: ['api', 'showTe'], found: ['showTeamMember'] },
    { typed: ['api', 'showSite', '--param', 'site'], found: ['site_id='] },
    {
      typed: ['api', 'listSites', '--filter', 'connection_status:eq=d'],
      found: ['connection_status:eq=disconnected'],
    },
    { typed: ['api', 'listSites', '--sort', 'last_sync_at,d'], found: ['last_sync_at,desc'] },
    { typed: ['sandbox', '--faults', 'fl'], found: ['flaky'] },
    { typed: ['sandbox', '--faults', 'flaky,trunc'], found: ['flaky,truncate'] },
    { typed: ['daemon', '--roles', 'scheduler,w'], found: ['scheduler,worker'] },
    { typed: ['plan', 'nightly-s'], found: ['nightly-sync'] },
    { typed: ['policies', 'show', 'nightly-s'], found: ['nightly-sync'] },
    { typed: ['policies', 'pause', '--job', 'site-s'], found: ['site-sync'] },
    { typed: ['policies', 'pause', '--account', ''], found: ['default'] },
    { typed: ['runs', '--policy', 'nightly-s'], found: ['nightly-sync'] },
    { typed: ['explain', 'unknown-e'], found: ['unknown-effect'] },
    { typed: ['schema', 'te'], found: ['tests'] },
    { typed: ['completion', 'z'], found: ['zsh'] },
  ])('of $typed is $found', async ({ typed, found }) => {
    expect(await completed(...typed)).toEqual(found);
  });

  test('of a run offers the ids of runs that the command accepts', async () => {
    expect(await completed('runs', 'show', '')).toEqual(['last', run]);
    expect(await completed('runs', 'show', 'nightly')).toEqual([run]);
    expect(await completed('runs', 'cancel', '')).toEqual(['']);
  });

  test('offers no runs and prints no error when Redis does not answer or a file has errors', async () => {
    const typed = ['completion', 'bash', '--', 'runs', 'show', ''];
    const gone = await desk.run(typed, { REDIS_URL: 'redis://127.0.0.1:1' });
    expect(gone).toEqual({ code: 0, stdout: '', stderr: '' });
    desk.write('broken.yaml', 'acounts: 1\n');
    const broken = await desk.run(['completion', 'bash', '--', '--config', 'broken.yaml', ...typed.slice(3)]);
    expect(broken).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});

/** What a shell prints, with `caretaker` on its PATH. */
const inShell = (shell: string, ...args: string[]): SpawnSyncReturns<string> =>
  spawnSync(shell, args, {
    cwd: desk.folder,
    encoding: 'utf8',
    env: { PATH: `${join(desk.folder, 'bin')}:${process.env['PATH']}`, HOME: desk.folder, TERM: 'dumb' },
  });

const isInstalled = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;
const shells = { bash: isInstalled('bash'), zsh: isInstalled('zsh'), fish: isInstalled('fish') };
for (const [shell, installed] of Object.entries(shells))
  if (!installed) process.stderr.write(`${shell} is not installed, so its completion is not tested.\n`);

describe.runIf(shells.bash)('bash', () => {
  /** Splits the line as bash does with its default COMP_WORDBREAKS. */
  const complete = (line: string) =>
    `COMP_LINE=${JSON.stringify(line)}; COMP_POINT=\${#COMP_LINE}
     COMP_WORDS=(); for part in $(sed 's/\\([=:]\\)/ \\1 /g' <<< "$COMP_LINE"); do COMP_WORDS+=("$part"); done
     [[ "$COMP_LINE" == *" " ]] && COMP_WORDS+=("")
     COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
     _caretaker; echo "\${COMPREPLY[@]}"`;

  test('completes words, values after =, and values after :', () => {
    const lines = [
      { line: 'caretaker run nightly-s', found: 'nightly-sync' },
      { line: 'caretaker runs --output=', found: 'table json jsonl csv yaml' },
      { line: 'caretaker api listSites --filter connection_status:eq=d', found: 'disconnected' },
    ];
    const script = ['source <(caretaker completion bash)', ...lines.map(({ line }) => complete(line))];
    const { stdout, stderr } = inShell('bash', '-c', script.join('\n'));
    expect({ found: stdout.trim().split('\n'), stderr }).toEqual({
      found: lines.map(({ found }) => found),
      stderr: '',
    });
  });
});

describe.runIf(shells.zsh)('zsh', () => {
  /** zsh completes only at a terminal. So the function is called here, and what it would add is printed. */
  const complete = (line: string) =>
    inShell(
      'zsh',
      '-f',
      '-c',
      `autoload -Uz compinit && compinit -u -d ${join(desk.folder, 'zcompdump')}
       source <(caretaker completion zsh)
       compadd() { local -a named; zparseopts -D -E a=named S:=ignored; print -l -- "\${(@P)1}"; }
       _files() { print files; }
       words=(\${(s: :)\${:-${line}x}}); words[-1]="\${words[-1]%x}"; CURRENT=\${#words}
       _caretaker`,
    );

  test.each([
    { line: 'caretaker run nightly-s', found: ['nightly-sync'] },
    { line: 'caretaker runs --output=js', found: ['--output=json', '--output=jsonl'] },
    { line: 'caretaker api showSite --param ', found: ['site_id='] },
    { line: 'caretaker plan nightly-sync --inventory ', found: ['files'] },
  ])('completes "$line"', ({ line, found }) => {
    const { stdout, stderr } = complete(line);
    expect({ found: stdout.trim().split('\n'), stderr }).toEqual({ found, stderr: '' });
  });
});

describe.runIf(shells.fish)('fish', () => {
  test.each([
    { line: 'caretaker run nightly-s', found: ['nightly-sync'] },
    { line: 'caretaker runs --output=js', found: ['--output=json', '--output=jsonl'] },
    { line: 'caretaker api showSite --param ', found: ['site_id='] },
    { line: 'caretaker plan nightly-sync --inventory conf', found: ['config/'] },
  ])('completes "$line"', ({ line, found }) => {
    const script = `caretaker completion fish | source; complete -C ${JSON.stringify(line)}`;
    const { stdout, stderr } = inShell('fish', '--no-config', '-c', script);
    expect({
      found: stdout
        .trim()
        .split('\n')
        .map((one) => one.split('\t')[0]),
      stderr,
    }).toEqual({ found, stderr: '' });
  });
});

test('an unknown shell is a usage error', async () => {
  const { code, stderr } = await desk.run(['completion', 'bsh']);
  expect(code).toBe(2);
  expect(stderr).toContain('did you mean bash?');
});
