/** The commands of the README exist. The long tests run them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commands, isCommand, lines, readme, root } from './readme-commands.ts';

test('the scripts exist, and the command is in the folder that is added to the PATH', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const line of lines) {
    const script = /^npm run (\S+)/.exec(line)?.[1];
    if (script) expect(scripts).toHaveProperty(script);
  }
  expect(lines).toContain('export PATH="$PATH:$PWD/node_modules/.bin"');
  expect(existsSync(join(root, 'node_modules/.bin/caretaker'))).toBe(true);
  expect(readme).not.toContain('npx caretaker');
});

test.each(commands)('$line is a command with these arguments and options', async ({ args }) => {
  expect(await isCommand(args)).toBe(true);
});

test('a policy file may begin with the line for editors that the README shows', () => {
  expect(readme).toContain('# yaml-language-server: $schema=../schemas/policy.json');
});
