/** Invitations get a new id whenever they are sent again or changed: they are known by their e-mail. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import type { OperationId } from '../../../src/contract/operations.ts';
import { findReplacement, lastingId } from '../../../src/job/reconcile/replaced-item.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { openAccount } from '../../support/account.ts';
import { aPolicyOf } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { inputs } from '../../support/operation-inputs.ts';
import { callOf } from './policies.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld({ sites: 1, speedUp: 20 });
  await invite('ana@example.com');
});
afterEach(() => world.stop());

const person = { requestClass: 'person' } as const;
const client = () => world.caretaker.link('default').client;
const invite = (email: string) =>
  client().call('createTeamMember', { body: { team_member: { email, role: 'collaborator' } } }, person);
const invitations = async () => {
  const query = { filters: { status: { eq: 'pending' } } } as const;
  const { team_members: members = [] } = await client().call('listTeamMembers', query, person);
  return members.flatMap(({ email }) => (email?.endsWith('@example.com') ? [email] : []));
};

const select = { from: 'listTeamMembers', where: 'member.email == "ana@example.com"' };
const sent = (operation: OperationId) => world.sandbox.journal.effectsOf(operation).length;
const ended = async (policy: Policy) => {
  const [target] = await world.targets(await world.ended(await world.fire(policy)));
  return target?.steps?.at(-1)?.reason ?? target?.reason;
};
const stepsOf = (...calls: { operation: string }[]): Policy => {
  const { select: selected } = callOf(select, { operation: 'resendTeamMemberInvitation' });
  const steps = calls.map((call) => ({
    name: 'api-call',
    job: 'api-call',
    options: apiCall.options.parse({ ...call, confirm: call.operation }),
  }));
  return aPolicyOf(steps, { select: selected });
};
const remove = { operation: 'deleteTeamMember' };
const resend = { operation: 'resendTeamMemberInvitation' };

test.each([
  ['resendTeamMemberInvitation', {}],
  ['updateTeamMember', { body: { team_member: { note: 'Reminded.' } } }],
] as const)('%s with once is made once for an e-mail, in however many runs', async (operation, more) => {
  const policy = callOf(select, { operation, ...more, once: 'remind-{{member.email}}' });

  expect(await ended(policy)).toBe('done');
  expect(await ended(policy)).toBe('already-done');
  expect(sent(operation)).toBe(1);
});

test.each([
  ['sent again', resend],
  ['changed', { operation: 'updateTeamMember', body: { team_member: { note: 'Reminded.' } } }],
])('an invitation that a step has %s is deleted by the next one under its new id', async (_, first) => {
  expect(await ended(stepsOf(first, remove))).toBe('done');
  expect(await invitations()).toEqual([]);
});

test('a deletion under a new id whose answer is lost is not taken for one of the old id', async () => {
  const policy = stepsOf(resend, remove);
  world.sandbox.failNext({ operation: 'deleteTeamMember' }, 'reset-before');

  expect(await ended(policy)).toBe('done');
  expect(await invitations()).toEqual([]);
  expect(sent('deleteTeamMember')).toBe(1);
});

test('a person who has joined under a new id is not removed as an invitation', async () => {
  const account = await openAccount();
  const { team_member_id } = await inputs.resendTeamMemberInvitation(account);
  const { team_member } = await account.call('resendTeamMemberInvitation', { team_member_id });
  const lasting = lastingId(team_member.email ?? '');
  const found = () =>
    findReplacement(account.looking, 'deleteTeamMember', { team_member_id }, { id: team_member_id, lasting });

  expect(await found()).toEqual({ is: 'replaced', input: { team_member_id: team_member.id } });
  await account.pass(3 * 86_400_000);
  expect(await found()).toEqual({ is: 'other', status: 'connected' });
});
