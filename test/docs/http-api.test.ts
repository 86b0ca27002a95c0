/** docs/http-api.md: its table of commands and roles agrees with the code, and its examples work. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { afterEach, expect, test } from 'vitest';
import { isPermitted, roles } from '../../src/access/principal.ts';
import { createProgram } from '../../src/cli/program.ts';
import {
  clientCommands,
  localCommands,
  redisCommands,
  remoteCommands,
} from '../../src/cli/remote/commands.ts';
import { methodOf } from '../../src/control/command.ts';
import { commands } from '../../src/control/commands.ts';
import { aPolicy, PASSWORD, startWorld, type World } from '../dashboard/world.ts';
import { TestIo } from '../support/io.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/http-api.md'), 'utf8');
let world: World | undefined;
afterEach(() => world?.stop());

/** Every command of the command line that does something, by its words. */
function wordsOf(command: CommandUnknownOpts, words: readonly string[] = []): string[] {
  const subcommands = command.commands.flatMap((one) => wordsOf(one, [...words, one.name()]));
  // A command with subcommands and no action of its own only shows its help.
  const acts = '_actionHandler' in command && command._actionHandler !== null;
  return [...(words.length > 0 && acts ? [words.join(' ')] : []), ...subcommands];
}

/** `npm run docs` writes them. */
test('the tables show the address of every command and its roles, and which commands work with a server', async () => {
  const addresses = commands.map((command) => {
    const cells = roles.map((one) =>
      isPermitted({ kind: 'user', name: 'x', grants: [{ role: one }] }, command.role) ? ' yes' : '',
    );
    return `| \`${command.name}\` | \`${methodOf(command)} /api/v1${command.path}\` |${cells.join(' |')} |\n`;
  });
  const refusals = { ...localCommands, ...redisCommands };
  const names = wordsOf(createProgram(() => async () => undefined, new TestIo()));
  expect([...clientCommands, ...Object.keys(remoteCommands), ...Object.keys(refusals)].toSorted()).toEqual(
    names.toSorted(),
  );
  const withServer = names.map((name) => {
    const { why = '', instead = '' } = refusals[name] ?? {};
    const reason = why === '' ? ' |' : ` ${why[0]?.toUpperCase()}${why.slice(1)}. ${instead} |`;
    return `| \`${name}\` |${why === '' ? ' yes' : ''} |${reason}\n`;
  });

  await expect(
    page
      .replace(/^(\| command \| with `--server` .*\n.*\n)(?:\|.*\n)+/m, `$1${withServer.join('')}`)
      .replace(/^(\| command \| address .*\n.*\n)(?:\|.*\n)+/m, `$1${addresses.join('')}`),
  ).toMatchFileSnapshot('../../docs/http-api.md');
});

test('the examples do what the page says', async () => {
  world = await startWorld({ policies: () => [aPolicy('nightly-sync')] });
  const examples = [...page.matchAll(/```sh\n(curl [\s\S]*?)```/g)].map(([, example = '']) => example);
  expect(examples.length).toBeGreaterThanOrEqual(2);
  const env = { ...process.env, SERVER: world.dashboard.url, TOKEN: PASSWORD };
  for (const example of examples) {
    const { stdout } = await promisify(execFile)(
      'sh',
      ['-c', example.replace('curl', 'curl -sS --fail-with-body')],
      { env },
    );
    expect(JSON.parse(stdout)).not.toHaveProperty('code');
  }
  expect((await world.records.policies.state('nightly-sync')).pause).toMatchObject({
    reason: 'The client moves to another host',
  });
  expect(await world.records.runs.list({ limit: 5 })).toMatchObject([{ policy: 'nightly-sync' }]);
});
