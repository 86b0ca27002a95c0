/** What a person reads when Redis refuses a command: which one, and what to do. Never that it is a bug. */
import { expect, test } from 'vitest';
import { exit, explain } from '../../src/cli/exit.ts';
import { openTerminal } from '../../src/cli/output/terminal.ts';
import { TestIo } from '../support/io.ts';

const allow = 'allow it all commands, keys and channels. [REDIS_REFUSES]';
const newer = 'Redis 6.2 or newer is required, and no proxy that leaves out commands. [REDIS_REFUSES]';
test.each([
  [
    "NOPERM User agency has no permissions to run the 'config|get' command",
    `its user may not use the command CONFIG GET, or one that it needs (NOPERM): ${allow}`,
  ],
  [
    "NOPERM this user has no permissions to run the 'xadd' command or its subcommand",
    `its user may not use the command XADD, or one that it needs (NOPERM): ${allow}`,
  ],
  [
    'NOPERM this user has no permissions to access one of the channels used as arguments',
    `its user may not use some keys or channels with the command SUBSCRIBE (NOPERM): ${allow}`,
  ],
  [
    "ERR The user executing the script can't run this command or subcommand script: d58045f9, on @user_script:1.",
    `its user may not use the command SUBSCRIBE, or one that it needs (NOPERM): ${allow}`,
  ],
  [
    "ERR ACL failure in script: User agency has no permissions to run the 'hset' command script: 08be99, on @user_script:1.",
    `its user may not use the command HSET, or one that it needs (NOPERM): ${allow}`,
  ],
  ["ERR unknown command 'lmpop', with args beginning with: ", `it does not know the command LMPOP: ${newer}`],
])('%s', (message, says) => {
  const io = new TestIo({ columns: 400 });
  const refused = Object.assign(new Error(message), { command: { name: 'subscribe' } });
  expect(explain(new Error('outer', { cause: refused }), openTerminal(io))).toBe(exit.unreachable);
  expect(io.printed.stderr).toBe(`error: Redis refuses: ${says}\n`);
});
