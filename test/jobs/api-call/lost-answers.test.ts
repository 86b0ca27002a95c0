/** One operation of each form in which the account shows a change; `lost-answers.long.test.ts` has all. */
import { describeLostAnswers } from './lost-answers.ts';

describeLostAnswers([
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
]);
