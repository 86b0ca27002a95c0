/** The steps of the Dockerfile, without an engine: in folders, with the Node of the tests. */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { started } from '../support/cli.ts';

const root = resolve(import.meta.dirname, '../..');

interface Stage {
  name: string;
  steps: { is: string; rest: string }[];
}

function stagesIn(text: string): Stage[] {
  const stages: Stage[] = [];
  for (const line of text.split('\n').filter((one) => /^[A-Z]+ /.test(one))) {
    const [is = '', ...words] = line.split(' ');
    if (is === 'FROM') stages.push({ name: words[2] ?? 'image', steps: [] });
    else stages.at(-1)?.steps.push({ is, rest: words.join(' ') });
  }
  return stages;
}

const run = async (program: string, args: string[], options: object) => {
  const { code, stdout, stderr } = await started(
    spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options }),
  ).ended;
  expect({ program, args, code, stderr: code === 0 ? '' : stderr }).toMatchObject({ code: 0 });
  return stdout;
};

/** Copies what COPY names: from the checkout, or from an earlier stage. */
function copy(words: string[], into: string, dirOf: (stage: string) => string): void {
  const from = words[0]?.startsWith('--from=') ? dirOf(words.shift()?.slice('--from='.length) ?? '') : root;
  const to = words.pop() ?? '';
  for (const word of words) {
    const path = word.replace(/^\/app\//, '');
    const target = join(into, to.endsWith('./') ? basename(path) : to);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(from, path), target, { recursive: true, verbatimSymlinks: true });
  }
}

/** COPY in both stages; RUN in the first, since the second one's writes outside of its folder. */
async function carryOut({ name, steps }: Stage, dirOf: (stage: string) => string): Promise<void> {
  mkdirSync(dirOf(name));
  const kept = Object.entries(process.env).filter(([key]) => !/^npm_/i.test(key));
  const env = { ...Object.fromEntries(kept), npm_config_prefer_offline: 'true' };
  for (const { is, rest } of steps) {
    if (is === 'COPY') copy(rest.split(' '), dirOf(name), dirOf);
    if (is === 'RUN' && name === 'build') await run('sh', ['-ec', rest], { cwd: dirOf(name), env });
  }
}

test('the steps of the image give a command that runs as another user, without what only the build needs', {
  timeout: 600_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'caretaker-image-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const stages = stagesIn(readFileSync(join(root, 'Dockerfile'), 'utf8'));
  expect(stages.map(({ name }) => name)).toEqual(['build', 'image']);
  const dirOf = (stage: string) => join(folder, stage);

  for (const stage of stages) await carryOut(stage, dirOf);
  const image = dirOf('image');
  const command = join(folder, 'caretaker');
  symlinkSync(join(image, 'src/cli/bin.cjs'), command);
  await run('chmod', ['-R', 'a+rX', folder], {});
  await run('chmod', ['-R', 'a-w', image], {});
  const someone = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const options = { cwd: image, env: { PATH: process.env['PATH'], NO_COLOR: '1' }, ...someone };
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(await run(command, ['--version'], options)).toBe(`${version}\n`);
  const values = { CARETAKER_BASE_URL: 'http://127.0.0.1:1/api/v6', CARETAKER_API_TOKEN: 't' };
  await run(command, ['validate'], { ...options, env: { ...options.env, ...values } });
  expect(await run(command, ['explain', 'gone'], options)).toContain('gone');
  for (const only of ['vitest', '@biomejs', 'playwright-core'])
    expect(() => readFileSync(join(image, 'node_modules', only, 'package.json'))).toThrow('ENOENT');
  await run('chmod', ['-R', 'u+w', image], {});
});
