/** What a new user sees first: the whole of `npm run demo`, without a terminal. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openDesk } from '../support/cli.ts';

test('the demo runs every shipped policy, the nightly sync first, and exits with 0 when all end as expected', async () => {
  const desk = openDesk({ CI: 'true' });
  const shipped = readdirSync('config/policies').flatMap((file) =>
    [...readFileSync(`config/policies/${file}`, 'utf8').matchAll(/^ {2}- name: (\S+)$/gm)].map(
      ([, name]) => name,
    ),
  );

  const { code, stdout, stderr } = await desk.run(['demo']);
  await desk.clear();

  expect(stderr).toContain('every policy ended as expected');
  expect(code).toBe(0);
  const begun = [...stderr.matchAll(/^Demo: (\S+):/gm)].map(([, name]) => name);
  expect(begun[0]).toBe('nightly-sync');
  expect(begun.toSorted()).toEqual(shipped.toSorted());
  const ends = [...stdout.matchAll(/^(\S+)\.\d{8}T\d{6}Z-\w+ (\w+) in /gm)];
  expect(ends.map(([, policy]) => policy)).toEqual(begun);
  const [sync = ''] = stdout.split(/^nightly-sync\./m);
  expect(sync.match(/^site-\d{4} .* (succeeded|failed|skipped) +[a-z-]+/gm)).toHaveLength(60);
});
