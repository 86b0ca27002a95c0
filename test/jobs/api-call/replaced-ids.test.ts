/** Invitations get a new id whenever they are sent again or changed: they are known by their e-mail. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { findReplacement, lastingId } from '../../../src/job/reconcile/replaced-item.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { openAccount } from '../../support/account.ts';
import { aPolicyOf } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { inputs } from '../../support/operation-inputs.ts';
import { asPerson } from '../acting.ts';
import { callOf } from './policies.ts';

describe('an invitation, which belongs to one test by its e-mail', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ sites: 1, speedUp: 20 });
  });
  afterAll(() => world.stop());

  const call = asPerson(() => world);
  const invite = (email: string) =>
    call('createTeamMember', { body: { team_member: { email, role: 'collaborator' } } });
  const isInvited = async (email: string) => {
    const query = { filters: { status: { eq: 'pending' } } } as const;
    const { team_members: members = [] } = await call('listTeamMembers', query);
    return members.some((one) => one.email === email);
  };

  const selectOf = (email: string) => ({
    from: 'listTeamMembers',
    where: `member.email == "${email}"`,
  });
  const ended = async (policy: Policy) => {
    const [target] = await world.targets(await world.ended(await world.fire(policy)));
    return target?.steps?.at(-1)?.reason ?? target?.reason;
  };
  const stepsFor = (email: string, ...calls: { operation: string }[]): Policy => {
    const { select } = callOf(selectOf(email), resend);
    const steps = calls.map((one) => ({
      name: 'api-call',
      job: 'api-call',
      options: apiCall.options.parse({ ...one, confirm: one.operation }),
    }));
    return aPolicyOf(steps, { select });
  };
  const resend = { operation: 'resendTeamMemberInvitation' } as const;
  const change = {
    operation: 'updateTeamMember',
    body: { team_member: { note: 'Reminded.' } },
  } as const;
  const remove = { operation: 'deleteTeamMember' };

  test.each([resend, change])(
    'is handled by $operation with once a single time, in however many runs',
    async (first) => {
      const email = `once-${first.operation}@example.com`.toLowerCase();
      await invite(email);
      const policy = callOf(selectOf(email), { ...first, once: 'remind-{{member.email}}' });
      const sent = () => world.sandbox.journal.effectsOf(first.operation).length;
      const before = sent();

      expect(await ended(policy)).toBe('done');
      expect(await ended(policy)).toBe('already-done');
      expect(sent()).toBe(before + 1);
    },
  );

  test.each([resend, change])(
    'that a step with $operation gave a new id is deleted by the next one',
    async (first) => {
      const email = `step-${first.operation}@example.com`.toLowerCase();
      await invite(email);
      expect(await ended(stepsFor(email, first, remove))).toBe('done');
      expect(await isInvited(email)).toBe(false);
    },
  );

  test('whose deletion under a new id gets no answer is not taken for one deleted under its old id', async () => {
    const email = 'lost@example.com';
    await invite(email);
    const deleted = () => world.sandbox.journal.effectsOf('deleteTeamMember').length;
    const before = deleted();
    world.sandbox.failNext({ operation: 'deleteTeamMember' }, 'reset-before');

    expect(await ended(stepsFor(email, resend, remove))).toBe('done');
    expect(await isInvited(email)).toBe(false);
    expect(deleted()).toBe(before + 1);
  });
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
