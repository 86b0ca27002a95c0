/** The launcher as several processes, and with its build on another disk. */
import { existsSync, statSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeCheckout } from './checkout.ts';

async function aCheckout() {
  const checkout = await makeCheckout();
  onTestFinished(checkout.remove);
  return checkout;
}

test('several commands on a stale build all start the current source', async () => {
  const checkout = await aCheckout();
  await checkout.writeMain(`process.stdout.write('current'); return 0;`);

  const ended = await Promise.all(Array.from({ length: 4 }, () => checkout.run('bin.cjs')));

  expect(ended).toEqual(Array.from({ length: 4 }, () => ({ code: 0, stdout: 'current', stderr: '' })));
});

const otherDisk = '/dev/shm';
const hasOtherDisk = existsSync(otherDisk) && statSync(otherDisk).dev !== statSync(tmpdir()).dev;
test.runIf(hasOtherDisk)('a build on another disk than the checkout replaces the old one too', async () => {
  const checkout = await aCheckout();
  const builds = await mkdtemp(join(otherDisk, 'caretaker-dist-'));
  onTestFinished(() => rm(builds, { recursive: true }));
  await symlink(builds, join(checkout.dir, 'dist'));
  for (const version of ['first', 'second']) {
    await checkout.writeMain(`process.stdout.write('${version}'); return 0;`);
    expect(await checkout.run('bin.cjs')).toEqual({ code: 0, stdout: version, stderr: '' });
  }
});
