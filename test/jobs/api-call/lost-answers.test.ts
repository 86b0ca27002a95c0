/** One operation of each form in which the account shows a change; `lost-answers.long.test.ts` has all. */
import type { OperationId } from '../../../src/contract/operations.ts';
import { describeLostAnswers } from './lost-answers.ts';

const ofEachForm: OperationId[] = [
  'updateClient',
  'acceptManagedAccount',
  'resendSenderEmailVerification',
  'cancelTask',
  'deleteReportTemplates',
  'updateTeamMember',
  'resendTeamMemberInvitation',
  'deleteTag',
  'assignTag',
  'enableSiteActivityLogs',
  'startSiteBackupUpload',
];

describeLostAnswers(ofEachForm, true);
