/** Section 4.12, and the rows of section 3 for team members. */
import { expect } from 'vitest';
import { unused } from './fixtures.ts';
import { casesOfFile, DAY, type Tools } from './harness.ts';
import { flag, listCases, moment } from './list-cases.ts';

const { conform, conformHeld } = casesOfFile('4.12 Team members');
const list = '/team-members';

listCases(conform, {
  path: list,
  key: 'team_members',
  filters: {
    name: { operators: ['contains'] },
    email: { operators: ['contains'] },
    company_name: { operators: ['contains'], try: ['Lind & Partners'] },
    role: { operators: ['eq'], wrong: 'owner' },
    two_fa_enabled: flag(({ two_fa_enabled }) => two_fa_enabled),
    status: { operators: ['eq'], wrong: 'rejected', try: ['pending', 'connected'] },
    created_at: moment,
    updated_at: moment,
  },
  sorts: ['created_at', 'updated_at', 'name', 'email', 'role'],
  defaultSort: 'created_at,desc',
  timezone: true,
});

/** An invitation of our own, withdrawn when the case ends. */
async function invite({ call, cleanUp }: Tools, fields: object = {}) {
  const email = `${unused('case')}@conformance.example`;
  const { status, body } = await call('POST', list, {
    team_member: { email, name: 'Noor Haddad', ...fields },
  });
  expect(status).toBe(201);
  cleanUp('DELETE', `${list}/${body.team_member.id}`);
  return body.team_member;
}

conform('creating answers 201 with a pending invitation', async (tools) => {
  const site = await tools.need('/sites');
  const fields = {
    role: 'administrator',
    company_name: 'A',
    note: 'B',
    all_sites_access: false,
    site_ids: [site.id],
  };
  const member = await invite(tools, fields);
  expect(member).toMatchObject({ ...fields, name: 'Noor Haddad', status: 'pending', two_fa_enabled: false });
  expect((await tools.call('GET', `${list}/${member.id}`)).body.team_member).toEqual(member);
});

conform('two_fa_enabled = false finds unaccepted invitations, too', async (tools) => {
  const { id } = await invite(tools);
  const { body } = await tools.call('GET', `${list}?filters[two_fa_enabled:eq]=false`);
  expect(body.team_members.map((member: { id: string }) => member.id)).toContain(id);
});

for (const [act, body, shown] of [
  ['update', { team_member: { note: 'New' } }, { note: 'New' }],
  ['resend-invitation', undefined, {}],
] as const) {
  conform(`${act} replaces a pending invitation under a new id`, async (tools) => {
    const before = await invite(tools);
    const answer = await tools.call('POST', `${list}/${before.id}/${act}`, body);
    expect(answer.status).toBe(200);
    const { team_member } = answer.body;
    tools.cleanUp('DELETE', `${list}/${team_member.id}`);
    const { email, name } = before;
    expect(team_member).toMatchObject({ email, name, status: 'pending', ...shown });
    expect(team_member.id).not.toBe(before.id);
    expect((await tools.call('GET', `${list}/${before.id}`)).status).toBe(404);
  });
}

conformHeld('updating a connected member keeps its id and what is left out', async (tools) => {
  const member = await tools.need(`${list}?filters[status:eq]=connected`);
  const { body } = await tools.call('POST', `${list}/${member.id}/update`, {
    team_member: { role: 'co_owner' },
  });
  const { updated_at, ...rest } = body.team_member;
  expect({ ...rest, updated_at: member.updated_at }).toEqual({ ...member, role: 'co_owner' });
  expect((await tools.call('POST', `${list}/${member.id}/resend-invitation`)).status).toBe(422);
});

conform('deleting withdraws an invitation', async (tools) => {
  const { id } = await invite(tools);
  expect((await tools.call('DELETE', `${list}/${id}`)).status).toBe(204);
  expect((await tools.call('GET', `${list}/${id}`)).status).toBe(404);
});

conformHeld('deleting takes the access of a connected member away', async ({ call, need }) => {
  const { id } = await need(`${list}?filters[status:eq]=connected`);
  expect((await call('DELETE', `${list}/${id}`)).status).toBe(204);
  expect((await call('GET', `${list}/${id}`)).status).toBe(404);
});

conformHeld(
  '3 Team member: an invitation is accepted after two days, the one it replaced is not',
  async (tools) => {
    const { call, time } = tools;
    const old = await invite(tools);
    const { id } = (await call('POST', `${list}/${old.id}/resend-invitation`)).body.team_member;
    await time.pass(2 * DAY);
    expect((await call('GET', `${list}/${id}`)).body.team_member.status).toBe('connected');
    expect((await call('GET', `${list}/${old.id}`)).status).toBe(404);
  },
);

conform('what is no invitation is refused', async (tools) => {
  const { email } = await invite(tools);
  const send = async (team_member: object) => (await tools.call('POST', list, { team_member })).status;
  expect(await send({ email })).toBe(422);
  expect(await send({ email: 'nobody' })).toBe(422);
  expect(await send({ email: 'a@b.example', site_ids: ['no-such-site'] })).toBe(422);
  expect(await send({ email: 'a@b.example', role: 'king' })).toBe(422);
  expect(await send({})).toBe(400);
  expect(await send({ email: 'a@b.example', shoe_size: 44 })).toBe(400);
  expect((await tools.call('POST', list)).status).toBe(400);
});
