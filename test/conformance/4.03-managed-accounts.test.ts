/** Section 4.3, and the rows of section 3 for managed accounts. */
import { expect } from 'vitest';
import { casesOfFile } from './harness.ts';
import { flag, listCases, moment } from './list-cases.ts';

const { conform, conformHeld } = casesOfFile('4.3 Managed accounts');
listCases(conform, {
  path: '/managed-accounts',
  key: 'managed_accounts',
  filters: {
    email: { operators: ['contains'] },
    role: { operators: ['eq', 'in'], wrong: 'owner' },
    company_name: { operators: ['contains'] },
    status: { operators: ['eq', 'in'], wrong: 'rejected' },
    all_sites_access: flag(({ all_sites_access }) => all_sites_access),
    created_at: moment,
    updated_at: moment,
  },
  sorts: ['created_at', 'updated_at', 'status'],
  defaultSort: 'created_at,desc',
  timezone: true,
});

const pending = '/managed-accounts?filters[status:eq]=pending';

conform('the list has accounts of the caller and invitations to the caller', async ({ call }) => {
  const { body } = await call('GET', '/managed-accounts');
  const statuses = body.managed_accounts.map(({ status }: { status: string }) => status);
  for (const status of statuses) expect(['pending', 'connected']).toContain(status);
});

conformHeld(
  'accept makes a pending invitation connected, which cannot be left before',
  async ({ call, need }) => {
    const invitation = await need(pending);
    expect((await call('DELETE', `/managed-accounts/${invitation.id}`)).status).toBe(404);
    const { status, body } = await call('POST', `/managed-accounts/${invitation.id}/accept`);
    expect(status).toBe(200);
    expect(body.managed_account).toMatchObject({
      id: invitation.id,
      status: 'connected',
      role: invitation.role,
    });
    const again = await call('POST', `/managed-accounts/${invitation.id}/accept`);
    expect(again.status).toBe(422);
    expect((await call('POST', `/managed-accounts/${invitation.id}/reject`)).status).toBe(422);
  },
);

conformHeld('reject makes a pending invitation rejected', async ({ call, need }) => {
  const invitation = await need(pending);
  const { status, body } = await call('POST', `/managed-accounts/${invitation.id}/reject`);
  expect([status, body.managed_account.status]).toEqual([200, 'rejected']);
  expect((await call('POST', `/managed-accounts/${invitation.id}/accept`)).status).toBe(422);
  const { managed_accounts } = (await call('GET', '/managed-accounts')).body;
  expect(managed_accounts.map(({ id }: { id: string }) => id)).not.toContain(invitation.id);
});

conformHeld('leaving a connected account answers 204, and it is gone', async (tools) => {
  const { call, need } = tools;
  const account = await need('/managed-accounts?filters[status:eq]=connected');
  expect((await call('DELETE', `/managed-accounts/${account.id}`)).status).toBe(204);
  expect((await call('DELETE', `/managed-accounts/${account.id}`)).status).toBe(404);
  const { managed_accounts } = (await call('GET', '/managed-accounts')).body;
  expect(managed_accounts.map(({ id }: { id: string }) => id)).not.toContain(account.id);
});

conformHeld('an invitation to somebody else cannot be seen or accepted', async ({ call }) => {
  const { managed_accounts } = (await call('GET', '/managed-accounts')).body;
  expect(managed_accounts.map(({ id }: { id: string }) => id)).not.toContain('managed-0007');
  for (const way of ['accept', 'reject']) {
    expect((await call('POST', `/managed-accounts/managed-0007/${way}`)).status).toBe(404);
  }
});
