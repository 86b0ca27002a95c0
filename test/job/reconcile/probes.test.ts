import { describe, expect, test } from 'vitest';
import { RejectedError } from '../../../src/client/errors.ts';
import {
  type Answer,
  type Input,
  type Item,
  type OperationId,
  operationOf,
  operations,
} from '../../../src/contract/operations.ts';
import { effectIdsIn, type OnceId } from '../../../src/job/reconcile/find-effect.ts';
import { probeEffect, probes } from '../../../src/job/reconcile/probes.ts';
import { lastingId } from '../../../src/job/reconcile/replaced-item.ts';
import { looksForState, probeState } from '../../../src/job/reconcile/wanted-state.ts';
import { type OpenAccount, openAccount } from '../../support/account.ts';
import { inputs } from '../../support/operation-inputs.ts';

const MINUTE = 60_000;

/**
 * What a job stores with the intent, for changes that can only be detected by comparison with the previous
 * state.
 */
const notes: Partial<Record<OnceId, (account: OpenAccount, input: never) => Promise<string | undefined>>> = {
  extendStagingSiteExpiry: async ({ call }, input: Input<'showStagingSite'>) =>
    (await call('showStagingSite', { staging_site_id: input.staging_site_id })).staging_site.expires_at,
  rotateSenderEmailDkim: async ({ call }, input: Input<'showSenderEmail'>) =>
    (await call('showSenderEmail', { sender_email_id: input.sender_email_id })).sender_email.domain?.dkim
      ?.value,
  updateTeamMember: emailBefore,
  resendTeamMemberInvitation: emailBefore,
};

async function emailBefore({ call }: OpenAccount, { team_member_id }: Input<'showTeamMember'>) {
  const { email = '' } = (await call('showTeamMember', { team_member_id })).team_member;
  return lastingId(email);
}

/** Checks for a change before and after it is made, as if its answer had been lost. */
async function lookAround<Id extends OnceId>(id: Id) {
  const account = await openAccount();
  const input = (await inputs[id](account)) as Input<Id>;
  // The change that tries out the operation is older than clocks differ.
  await account.pass(5 * MINUTE);
  const note = await notes[id]?.(account, input as never);
  const intent = { operation: id, at: account.now(), ...(note === undefined ? {} : { note }) };
  const before = await probeEffect(id, account.looking, input, intent);
  const answer: Answer<Id> = await account.call(id, input);
  const after = await probeEffect(id, account.looking, input, intent);
  return { before, answer: answer as { task?: { id: string } }, after };
}

const all = Object.keys(probes) as OnceId[];
const traceless = all.filter((id) => probes[id].looksFor.startsWith('Nothing'));
const leaving = all.filter((id) => !traceless.includes(id));

describe('a change whose answer was lost', () => {
  test.each(leaving)('%s: is found when it happened, and only then', async (id) => {
    const { before, answer, after } = await lookAround(id);
    expect(before).toEqual({ is: 'absent' });
    expect(after).toMatchObject({ is: 'found' });
    // The task it started is returned, so that it can be followed.
    if (answer.task && id !== 'updateStagingSitePhpVersion') {
      expect(after).toEqual({ is: 'found', taskId: answer.task.id });
    }
  });

  test.each(traceless)('%s: is unknown, because it leaves no trace', async (id) => {
    const { before, after } = await lookAround(id);
    expect([before.is, after.is]).toEqual(['unknown', 'unknown']);
  });
});

const stated = (Object.keys(operations) as OperationId[]).filter(
  (id) => operationOf(id).effect === 'repeatable' && !looksForState(id).looksFor.startsWith('Not looked for'),
);

test.each(stated)('%s: is done once the account shows its state, and only then', async (id) => {
  const account = await openAccount();
  const input = (await inputs[id](account)) as Input<typeof id> & Record<string, unknown>;
  const look = () => probeState(id, account.looking, input);

  const before = await look();
  await account.call(id, input);
  const after = await look();

  expect([before, after]).toEqual([{ is: 'absent' }, { is: 'found' }]);
  if (operationOf(id).leadsTo?.status !== undefined)
    await expect(account.call(id, input)).rejects.toThrow(RejectedError);
});

test('an invitation that is listed without its status may still be open', async () => {
  const account = await openAccount();
  const input = (await inputs.rejectManagedAccount(account)) as Input<'rejectManagedAccount'>;
  const { all } = account.looking;
  const withoutStatus: typeof all = async function* (list, query) {
    for await (const { status: _, ...shown } of all('listManagedAccounts', query as never))
      yield shown as Item<typeof list>;
  };

  const found = await probeState('rejectManagedAccount', { ...account.looking, all: withoutStatus }, input);

  expect(found).toEqual({ is: 'unknown', detail: 'The account does not show its status.' });
});

test('an e-mail that went to some of its recipients is unknown: sending it again would reach them twice', async () => {
  const account = await openAccount();
  const input = (await inputs.sendReportEmail(account)) as Input<'sendReportEmail'>;
  await account.pass(5 * MINUTE);
  const intent = { operation: 'sendReportEmail', at: account.now() };
  await account.call('sendReportEmail', input);
  const { send_email } = input.body;
  const more = {
    ...input,
    body: { send_email: { ...send_email, recipients: [...send_email.recipients, 'b@x.example'] } },
  };

  expect(await probeEffect('sendReportEmail', account.looking, more, intent)).toEqual({
    is: 'unknown',
    detail: '1 of 2 recipients are in the report.',
  });
});

test('an e-mail that another run sent shortly before is not confused with the one whose answer was lost', async () => {
  const account = await openAccount();
  const input = (await inputs.sendReportEmail(account)) as Input<'sendReportEmail'>;
  await account.pass(5 * MINUTE);
  const answer = await account.call('sendReportEmail', input);
  account.giveAway(...effectIdsIn('sendReportEmail', answer, input));
  await account.pass(1_000);

  const intent = { operation: 'sendReportEmail', at: account.now() };
  expect(await probeEffect('sendReportEmail', account.looking, input, intent)).toEqual({
    is: 'unknown',
    detail: 'Another run sent the report at about the time of the request.',
  });
});

test('a task that does not show its target may be the lost one: the effect is unknown', async () => {
  const account = await openAccount();
  const input = (await inputs.startSiteBackupDownload(account)) as Input<'startSiteBackupDownload'>;
  await account.pass(5 * MINUTE);
  const intent = { operation: 'startSiteBackupDownload', at: account.now() };
  account.sandbox.startTask({ type: 'download', input: [], takesMs: MINUTE });

  expect(await probeEffect('startSiteBackupDownload', account.looking, input, intent)).toMatchObject({
    is: 'unknown',
  });
});

test('a note created since that does not show its content may be the lost one: it is not created again', async () => {
  const account = await openAccount();
  const input = (await inputs.createSiteNote(account)) as Input<'createSiteNote'>;
  await account.pass(5 * MINUTE);
  const intent = { operation: 'createSiteNote', at: account.now() };
  await account.call('createSiteNote', input);
  account.sandbox.hide('listSiteNotes', 'content');

  expect(await probeEffect('createSiteNote', account.looking, input, intent)).toEqual({
    is: 'unknown',
    detail: 'Something of this kind was created since, but does not show what for.',
  });
});
