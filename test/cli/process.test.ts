/**
 * Commands as processes: the build has what they load, and their exit code and both streams arrive. Only a process
 * shows that.
 */
import { expect, test } from 'vitest';
import { sandboxOfFile } from './desk-of-file.ts';

const { desk } = await sandboxOfFile({ sites: 2 });

test.each([
  {
    args: ['plan', 'nightly-sync'],
    code: 0,
    stdout: /^nightly-sync \(site-sync\) would work on /,
    stderr: '',
  },
  { args: ['runs', 'show', 'nothing'], code: 2, stdout: '', stderr: /^error: There is no run "nothing"\./ },
])('$args', async ({ args, ...expected }) => {
  const { code, stdout, stderr } = await desk.spawn(args).ended;
  expect(code).toBe(expected.code);
  expect(stdout).toMatch(expected.stdout === '' ? /^$/ : expected.stdout);
  expect(stderr).toMatch(expected.stderr === '' ? /^$/ : expected.stderr);
});
