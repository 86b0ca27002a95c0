/** docs/http-api.md: its table of commands and roles agrees with the code, and its examples work. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { isPermitted, roles } from '../../src/access/principal.ts';
import { localCommands, redisCommands } from '../../src/cli/without-server.ts';
import { methodOf } from '../../src/control/command.ts';
import { commands } from '../../src/control/commands.ts';
import { aPolicy, PASSWORD, startWorld, type World } from '../dashboard/world.ts';
import { actingCommands } from '../support/commands.ts';
import { withRows } from './table.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/http-api.md'), 'utf8');
let world: World | undefined;
afterEach(() => world?.stop());

/** `npm run docs` writes them. */
test('the tables show the address of every command and its roles, and which commands work with a server', async () => {
  const addresses = commands.map((command) => {
    const cells = roles.map((one) =>
      isPermitted({ kind: 'user', name: 'x', grants: [{ role: one }] }, command.role) ? ' yes' : '',
    );
    return `| \`${command.name}\` | \`${methodOf(command)} /api/v1${command.path}\` |${cells.join(' |')} |`;
  });
  const refusals = { ...localCommands, ...redisCommands };
  const names = actingCommands().map(({ words }) => words);
  const withServer = names.map((name) => {
    const { why = '', instead = '' } = refusals[name] ?? {};
    const reason = why === '' ? ' |' : ` ${why[0]?.toUpperCase()}${why.slice(1)}. ${instead} |`;
    return `| \`${name}\` |${why === '' ? ' yes' : ''} |${reason}`;
  });

  const written = withRows(page, '| command | with `--server` ', withServer);
  await expect(withRows(written, '| command | address ', addresses)).toMatchFileSnapshot(
    '../../docs/http-api.md',
  );
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
