/** Records belong to the service with which they began: a process with another address does nothing with them. */
import { expect, onTestFinished, test } from 'vitest';
import { localPrincipal } from '../../src/access/principal.ts';
import { type Caretaker, openCaretaker } from '../../src/app/caretaker.ts';
import { openMovedAccounts } from '../../src/app/moved-accounts.ts';
import { AccountMovedError, serviceAddress } from '../../src/contract/service-address.ts';
import { createEngine } from '../../src/engine/engine.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { partsOf } from '../support/between.ts';
import { aPolicy } from '../support/builders.ts';
import type { World } from '../support/caretaker.ts';
import { keptLog } from '../support/quiet.ts';
import { worldOfTest } from '../support/world-of-test.ts';

const policy = aPolicy();
const firing = { trigger: 'manual', scheduledFor: 0 } as const;

/** A process on the same Redis with the address of another sandbox, as after `export CARETAKER_BASE_URL=...`. */
async function elsewhere(world: World): Promise<{ other: Caretaker; service: Sandbox }> {
  const service = await startSandbox({ sites: 3, rateLimit: 0, clock: world.clock });
  onTestFinished(() => service.stop());
  const { settings } = world.caretaker;
  const { default: account } = settings.accounts;
  if (!account) throw new Error('the world has no account');
  const other = await openCaretaker({
    settings: {
      ...settings,
      accounts: { default: { ...account, baseUrl: service.url, token: service.token } },
    },
    log: world.log,
    clock: world.clock,
  });
  onTestFinished(() => other.close());
  return { other, service };
}

test('with another address, what plans, fires, asks or retries is refused before any request; an approval and a cancel are carried out by the right worker', async () => {
  const world = await worldOfTest({ sites: 2 });
  const { other, service } = await elsewhere(world);
  const { accounts, runs } = world.caretaker.records;
  expect(await accounts.addresses()).toEqual(new Map());

  const run = await world.ended(await world.fire(policy));

  const address = serviceAddress(world.sandbox.url);
  expect(run.address).toBe(address);
  expect(await accounts.addressOf('default')).toBe(address);
  const refusal = new AccountMovedError('default', serviceAddress(service.url), address);
  expect(refusal.message).toContain('"caretaker accounts move default"');
  await expect(other.engine.preview(policy)).rejects.toThrow(refusal);
  await expect(other.engine.fire(policy, firing)).rejects.toThrow(refusal);
  await expect(
    other.link('default').client.call('listSites', {}, { requestClass: 'person' }),
  ).rejects.toThrow(refusal);
  expect(await runs.countActive('default')).toBe(0);

  const [site = ''] = world.sandbox.siteIds();
  world.sandbox.site(site).failNextSync('The disk is full.');
  const approved = aPolicy({ approval: { when: 'always', expiresMs: 24 * 3_600_000 } });
  const waiting = async () =>
    world.ended(await world.fire(approved), ({ status }) => status === 'awaiting-approval');
  const first = await waiting();
  await other.engine.approve(first.id, { by: localPrincipal('anna') });
  expect((await world.ended(first)).counts).toMatchObject({ succeeded: 1, failed: 1 });
  await expect(other.engine.retry(first.id)).rejects.toThrow(AccountMovedError);
  const second = await waiting();
  await other.engine.cancel(second.id);
  expect((await world.ended(second)).status).toBe('cancelled');
  expect(service.journal.requests).toEqual([]);
});

test('workers with another address, or without the account, leave the runs alone, and do not keep the right one from them', async () => {
  const world = await worldOfTest({ sites: 3, work: false });
  const { other, service } = await elsewhere(world);
  const without = { ...partsOf(await world.another({ work: false })), addressOf: () => undefined };
  const wrong = [other.engine.work(5), createEngine(without).work(5)];
  onTestFinished(async () => {
    for (const working of wrong) await working.stop();
  });

  const run = await world.fire(policy);
  const right = world.caretaker.engine.work(5);
  onTestFinished(() => right.stop());

  expect((await world.ended(run)).counts).toMatchObject({ planned: 3, succeeded: 3 });
  expect(world.sandbox.journal.effectsOf('syncSite')).toHaveLength(3);
  expect(service.journal.requests).toEqual([]);
});

test('an account moves only between runs; a process at work with the old address notices at its next request', async () => {
  const world = await worldOfTest({ sites: 1, work: false });
  const { other, service } = await elsewhere(world);
  const { records } = world.caretaker;
  const log = keptLog();
  const moved = openMovedAccounts({ records, settings: world.caretaker.settings, clock: world.clock, log });
  const run = await world.fire(policy);
  await moved.look();
  expect(moved.without([policy])).toEqual([policy]);
  const to = serviceAddress(service.url);

  expect(await records.accounts.move('default', to)).toBe(false);
  await world.caretaker.engine.forceEnd(run.id);
  expect(await records.accounts.move('default', to)).toBe(true);

  await expect(world.caretaker.engine.preview(policy)).rejects.toThrow(AccountMovedError);
  await expect(world.fire(policy)).rejects.toThrow(AccountMovedError);
  expect((await other.engine.fire(policy, firing)).address).toBe(to);
  await moved.look();
  expect(moved.without([policy])).toEqual([]);
  const sentence = new AccountMovedError('default', serviceAddress(world.sandbox.url), to).message;
  expect(moved.found()).toEqual([{ account: 'default', sentence }]);
});
