/** Calls about the account itself: they have one target, and are made once in each run. */
import { describe, expect, test } from 'vitest';
import type { Policy } from '../../../src/policy/policy.ts';
import type { World } from '../../support/caretaker.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { asPerson, justBefore } from '../acting.ts';
import { checkOf } from '../check/policies.ts';
import { callOf, mistakesIn } from './policies.ts';

let world: World;
const start = async () => {
  world = await worldOfTest({ sites: 3 });
};

const branding = {
  operation: 'updatePluginBranding',
  body: { plugin_branding: { type: 'hidden' } },
};

async function carriedOut(policy: Policy) {
  const run = await world.ended(await world.fire(policy));
  return (await world.targets(run)).map(({ id, label, outcome, reason }) => [id, label, outcome, reason]);
}

test('an operation without a target is called once for the account', async () => {
  await start();
  const policy = callOf({ from: 'account' }, branding);
  const { targets, cost, stoppedBy } = await world.caretaker.engine.preview({
    ...policy,
    limits: { ...policy.limits, maxPercent: 10 },
  });

  expect(targets).toMatchObject([{ id: 'account', label: 'account default' }]);
  expect(cost.acting).toBe(1);
  expect(stoppedBy).toBeUndefined();
  expect(await carriedOut(policy)).toEqual([['account', 'account default', 'succeeded', 'done']]);
  expect(world.sandbox.journal.effectsOf('updatePluginBranding')).toHaveLength(1);
});

test('the branding can be asked for first, or by a check, so that nothing is sent when it is as wanted', async () => {
  await start();
  const policy = callOf({ from: 'showPluginBranding', where: 'plugin_branding.type != "hidden"' }, branding);

  expect(await carriedOut(policy)).toEqual([['plugin_branding', 'account default', 'succeeded', 'done']]);
  expect(await carriedOut(policy)).toEqual([]);
  expect(world.sandbox.journal.effectsOf('updatePluginBranding')).toHaveLength(1);

  const login = checkOf(
    '{ from: showWpLogin, where: wp_login.type == "default" }',
    '{ message: "The login screen of {{wp_login.label}} is the default one" }',
  );
  expect(await carriedOut(login)).toMatchObject([['wp_login', 'account default', 'succeeded', 'found']]);
});

test('once makes a call for the account once for each key, in whichever run', async () => {
  await start();
  const policy = callOf(
    { from: 'account' },
    {
      operation: 'createTag',
      body: { tag: { name: 'Ours', color: '#112233' } },
      once: 'tag {{account.name}}',
    },
  );

  expect(await carriedOut(policy)).toMatchObject([['account', 'account default', 'succeeded', 'done']]);
  expect(await carriedOut(policy)).toMatchObject([
    ['account', 'account default', 'succeeded', 'already-done'],
  ]);
  expect(world.sandbox.journal.effectsOf('createTag')).toHaveLength(1);
});

test('a change of a setting that is in progress is waited for', async () => {
  await start();
  justBefore(world, 'resetWpLogin', () =>
    asPerson(() => world)('updatePluginBranding', { body: { plugin_branding: { type: 'hidden' } } }),
  );
  const policy = callOf({ from: 'account' }, { operation: 'resetWpLogin', confirm: 'resetWpLogin' });

  const run = await world.ended(await world.fire(policy));

  expect(await world.reasons(run)).toEqual({ account: 'done' });
  expect(run.requestsByOperation?.['resetWpLogin']).toBeGreaterThan(1);
});

describe('mistakes are found when the policy is loaded', () => {
  test.each([
    [
      undefined,
      branding,
      'The job api-call works on any list; name one with "from", such as listSites. for the account as the one target: from: account',
    ],
    [
      { from: 'account', filters: { type: { eq: 'custom' } } },
      branding,
      'The account has only one account, so "filters" does not apply to it. remove it',
    ],
    [
      { from: 'showPluginBranding', for_each: 'listSites' },
      branding,
      'The account has only one plugin_branding, so "for_each" does not apply to it. remove it',
    ],
    [
      { from: 'showPluginBranding', where: 'plugin_branding.typ == "x"' },
      branding,
      'plugin_branding has no field "typ". did you mean type?',
    ],
    [
      { from: 'account' },
      { operation: 'resetPluginBranding' },
      'resetPluginBranding is destructive: The settings of the branding are lost. if this is intended, add confirm: resetPluginBranding',
    ],
    [
      { from: 'account' },
      { operation: 'deleteTag', confirm: 'deleteTag' },
      '"tag_id" is missing. add it to params, as a string or from the target: tag_id: { cel: account. ...  }',
    ],
  ])('%j with %j', (select, call, mistake) => {
    expect(mistakesIn(select, call)).toEqual([mistake]);
  });
});
