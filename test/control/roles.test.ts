/** Every command against every role: what docs/http-api.md shows is what is carried out, and nothing else. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Grant, type Role, roles } from '../../src/access/principal.ts';
import { carryOut } from '../../src/control/carry-out.ts';
import type { AnyCommand, BaseDeps } from '../../src/control/command.ts';
import { commands } from '../../src/control/commands.ts';

const deps = {
  clock: { now: () => 0 },
  audit: { write: async () => {}, writeResult: async () => {}, refuse: async () => {}, note: async () => {} },
} as unknown as BaseDeps;

/** Whether a principal with this grant gets past the check; the command itself does nothing here. */
async function isCarriedOut(
  command: AnyCommand,
  grant: Grant,
  subject: object | undefined,
): Promise<boolean> {
  let carriedOut = false;
  const empty: AnyCommand = {
    ...command,
    input: z.any(),
    subject: () => subject,
    carryOut: async () => {
      carriedOut = true;
    },
    outcome: () => ({}),
  };
  const principal = { kind: 'user', name: 'anna', grants: [grant] } as const;
  await carryOut(empty, deps, {}, { principal, from: 'here' }).catch((error: { code?: string }) =>
    expect(error.code).toBe('FORBIDDEN'),
  );
  return carriedOut;
}

const permits: Record<Role, readonly Role[]> = {
  viewer: ['viewer', 'operator', 'approver', 'admin'],
  operator: ['operator', 'admin'],
  approver: ['approver', 'admin'],
  admin: ['admin'],
};

test.each(commands.map((command) => [command.name, command] as const))(
  '%s is carried out for its roles only, and only for what they cover',
  async (_name, command) => {
    const subject = { policy: 'sync', account: 'default' };
    for (const role of roles) {
      const expected = permits[command.role].includes(role);
      expect(await isCarriedOut(command, { role }, subject)).toBe(expected);
      expect(await isCarriedOut(command, { role, policies: ['sync'] }, subject)).toBe(expected);
      expect(await isCarriedOut(command, { role, policies: ['other'] }, subject)).toBe(false);
      expect(await isCarriedOut(command, { role, accounts: ['other'] }, subject)).toBe(false);
      // What concerns everything is not for a role with limits.
      expect(await isCarriedOut(command, { role, policies: ['sync'] }, {})).toBe(false);
    }
  },
);

test('only commands that read are for viewers', () => {
  expect(commands.filter(({ role, reads }) => role === 'viewer' && !reads)).toEqual([]);
});
