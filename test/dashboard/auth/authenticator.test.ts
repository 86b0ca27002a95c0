import { expect, test } from 'vitest';
import { noAccess } from '../../../src/access/access.ts';
import { hashPassword } from '../../../src/access/credentials.ts';
import { Authenticator } from '../../../src/dashboard/auth/authenticator.ts';

// Only real hashes show this: each check costs a tenth of a second.
test('an unknown name takes as long as a known one', async () => {
  const passwordHash = await hashPassword('correct horse battery');
  const users = [{ name: 'ana', passwordHash, grants: [] }];
  const authenticator = new Authenticator(undefined, () => ({ ...noAccess, users }));
  /** The work of a check; unlike its duration, it does not depend on what else the machine does. */
  const workOf = async (name: string) => {
    const before = process.cpuUsage();
    expect(await authenticator.identify(name, 'a wrong password')).toBeUndefined();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };

  // What else the process does meanwhile, such as collecting garbage, adds to a measurement and takes nothing away.
  const leastOf = async (name: string) =>
    Math.min(await workOf(name), await workOf(name), await workOf(name));
  const [known, unknown] = [await leastOf('ana'), await leastOf('nobody')];

  expect(unknown).toBeGreaterThan(known / 2);
  expect(unknown).toBeLessThan(known * 2);
});
