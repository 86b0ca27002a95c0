/** `accounts`, `accounts move`, and what the other commands say about an account with another address. */
import { expect, test } from 'vitest';
import { serviceAddress } from '../../src/contract/service-address.ts';
import { sandboxOfFile } from './desk-of-file.ts';

const { sandbox, desk } = await sandboxOfFile({ sites: 2, speed: 200 });
const { records } = await desk.keepRedis();
const OLD = 'https://old.example.com/api/v6';

test('commands refuse an account of another service until it is moved, which is asked and audited', async () => {
  const address = serviceAddress(sandbox.url);
  const list = () => desk.json(['accounts']);
  expect(await list()).toEqual([{ name: 'default', address, bound: null }]);
  expect((await desk.run(['accounts', 'move', 'default'])).stderr).toContain('has no records yet');
  await records.accounts.move('default', OLD);
  const refusal = `error: The records of the account "default" belong to ${OLD}, but the configuration has ${address}: nothing is planned, sent or followed.`;

  for (const command of [
    ['plan', 'nightly-sync'],
    ['run', 'nightly-sync'],
    ['api', 'listTags'],
  ]) {
    const refused = await desk.run(command);
    expect(refused.stderr).toContain(refusal);
    expect(refused.stderr).toContain('[ACCOUNT_MOVED]');
    expect(refused.code).toBe(2);
  }
  const checked = await desk.run(['doctor']);
  expect(checked.stdout.replace(/\s+/g, ' ')).toContain(`wrong account "default": ${refusal.slice(7)}`);
  expect(sandbox.journal.requests).toEqual([]);
  expect(await list()).toEqual([{ name: 'default', address, bound: OLD }]);

  const unasked = await desk.run(['accounts', 'move', 'default']);
  expect(unasked.stderr).toContain(`belong to ${OLD}. From now on they will belong to ${address}`);
  expect(unasked.stderr).toContain('--yes moves it without asking.');
  expect(unasked.code).toBe(2);
  expect(await records.accounts.addressOf('default')).toBe(OLD);

  const moved = await desk.run(['accounts', 'move', 'default', '--yes', '--reason', 'new domain']);
  expect(moved.code).toBe(0);
  expect(await list()).toEqual([{ name: 'default', address, bound: address }]);
  expect((await desk.run(['audit', '--what', 'accounts.move', '--json'])).stdout).toMatch(/new domain/);
  expect((await desk.run(['run', 'nightly-sync'])).code).toBe(0);
});
