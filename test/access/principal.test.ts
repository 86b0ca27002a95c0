import { expect, test } from 'vitest';
import { isPermitted, localPrincipal, type Principal } from '../../src/access/principal.ts';

const user = (...grants: Principal['grants']): Principal => ({ kind: 'user', name: 'ana', grants });

test('every role reads, and only an admin has every role', () => {
  expect(isPermitted(user({ role: 'approver' }), 'viewer')).toBe(true);
  expect(isPermitted(user({ role: 'approver' }), 'operator')).toBe(false);
  expect(isPermitted(user({ role: 'operator' }), 'approver')).toBe(false);
  expect(isPermitted(user({ role: 'admin' }), 'approver')).toBe(true);
  expect(isPermitted(user(), 'viewer')).toBe(false);
  expect(isPermitted(localPrincipal('ana'), 'admin')).toBe(true);
});

test('a role that is limited to a policy does not cover another policy, nor all of them', () => {
  const ana = user({ role: 'operator', policies: ['nightly-sync'], accounts: ['main'] });
  expect(isPermitted(ana, 'operator', { policy: 'nightly-sync', account: 'main' })).toBe(true);
  expect(isPermitted(ana, 'operator', { policy: 'nightly-sync', account: 'other' })).toBe(false);
  expect(isPermitted(ana, 'operator', { policy: 'reports', account: 'main' })).toBe(false);
  expect(isPermitted(ana, 'operator')).toBe(false);
  expect(isPermitted(ana, 'viewer', { policy: 'reports', account: 'main' })).toBe(false);
});
