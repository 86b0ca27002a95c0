/** Every address of the dashboard, who may request it, and its handler. Those of bull-board are in `board.ts`. */

import type { AnyCommand } from '../../control/command.ts';
import { acknowledgeFindings, unacknowledgeFindings } from '../../control/commands/acknowledge-findings.ts';
import { cancelAnnouncement } from '../../control/commands/announcements.ts';
import { approveRun, rejectRun } from '../../control/commands/approve-run.ts';
import { cancelRun, forceEndRun, retryRun } from '../../control/commands/change-run.ts';
import { beginFreeze, endFreeze } from '../../control/commands/freeze.ts';
import { pauseQueues, resumeQueues } from '../../control/commands/list-queues.ts';
import { resendDelivery } from '../../control/commands/notifications.ts';
import { pausePolicy, resumePolicy } from '../../control/commands/pause-policy.ts';
import { planPolicy } from '../../control/commands/plan-policy.ts';
import { resumeRun } from '../../control/commands/resume-run.ts';
import { holdRings, releaseVersion, unholdRings } from '../../control/commands/rings.ts';
import { runPolicy } from '../../control/commands/run-policy.ts';
import { testReceiver } from '../../control/commands/test-receiver.ts';
import { acknowledge, askToAcknowledge, askToUnacknowledge, unacknowledge } from '../actions/acknowledge.tsx';
import { askToCancelAnnouncement, cancelAnnounced } from '../actions/announcement.tsx';
import { askToCancelMany, askToRetryMany, cancelMany, retryMany } from '../actions/bulk.tsx';
import { acknowledgeMany, askToAcknowledgeMany } from '../actions/bulk-findings.tsx';
import {
  askToPauseMany,
  askToResumeMany,
  askToRunMany,
  pauseMany,
  resumeMany,
  runMany,
} from '../actions/bulk-policies.tsx';
import { addFreeze, askToEndFreeze, askToFreeze, endFreezeNow } from '../actions/freeze.tsx';
import {
  askToResend,
  askToResendMany,
  askToTest,
  resend,
  resendMany,
  test,
} from '../actions/notification.tsx';
import { askToPause, askToResume, askToRun, makePlan, pause, resume, runNow } from '../actions/policy.tsx';
import { askToPauseQueue, askToResumeQueue, pauseQueue, resumeQueue } from '../actions/queues.tsx';
import { askAboutRing, askToRelease, changeRing, release } from '../actions/rings.tsx';
import {
  approve,
  askToApprove,
  askToReject,
  askToResumeRun,
  reject,
  resumeOne,
} from '../actions/rollout.tsx';
import { askToCancel, askToForceEnd, askToRetry, cancel, forceEnd, retry } from '../actions/run.tsx';
import { askToEndSessions, endSessions } from '../actions/sessions.tsx';
import { commandRoutes } from '../api/commands.ts';
import { sendOpenApi } from '../api/openapi.ts';
import {
  deliveryInPath,
  everything,
  policyInPath,
  queueInPath,
  type Rule,
  receiverInPath,
  runInPath,
} from '../auth/guard.tsx';
import { sendEvents, sendPage } from '../events/send-streams.ts';
import { sendAlive, sendMetrics, sendReady } from '../monitoring/endpoints.ts';
import { showApprovals } from '../pages/approvals.tsx';
import { sendAuditCsv, showAudit } from '../pages/audit.tsx';
import { showBudget } from '../pages/budget.tsx';
import { sendFindingsCsv, showFindings } from '../pages/findings.tsx';
import { showNotification } from '../pages/notification.tsx';
import { showNotifications } from '../pages/notifications.tsx';
import { showOverview } from '../pages/overview.tsx';
import { sendPoliciesCsv, showPolicies } from '../pages/policies.tsx';
import { showChanges } from '../pages/policy-changes.tsx';
import { showDefinition } from '../pages/policy-definition.tsx';
import { showPolicy } from '../pages/policy-history.tsx';
import { showPlan } from '../pages/policy-plan.tsx';
import { showRingsTab } from '../pages/policy-rings.tsx';
import { showTrends } from '../pages/policy-trends.tsx';
import { showQueues } from '../pages/queues.tsx';
import { sendTargetsCsv, showRun } from '../pages/run.tsx';
import { showCompared } from '../pages/run-compared.tsx';
import { sendRunsCsv, showRuns } from '../pages/runs.tsx';
import { sendScheduleCsv, showSchedule } from '../pages/schedule.tsx';
import { sendSuggestions, showSearch } from '../pages/search.tsx';
import { showSessions } from '../pages/sessions.tsx';
import {
  beginOidc,
  CALLBACK_PATH,
  endSession,
  finishOidc,
  logNewLink,
  showSignIn,
  trySignIn,
} from '../pages/sign-in.tsx';
import { sendSitesCsv, showSites } from '../pages/sites.tsx';
import { showSystem } from '../pages/system.tsx';
import { showTarget } from '../pages/target.tsx';
import { sendClientFile } from './client-files.ts';
import type { Handler } from './context.ts';

export interface Route extends Rule {
  method: 'GET' | 'POST';
  path: string;
  handle: Handler;
}

const open: Rule = { access: 'open' };
/** Lists with what the grants of the principal cover. */
const read: Rule = { access: 'viewer' };
const readEverything: Rule = { ...read, subject: everything };
const readPolicy: Rule = { ...read, subject: policyInPath };
const readRun: Rule = { ...read, subject: runInPath };
/** An act on a policy or a run, and the page that asks for it. */
const ofPolicy = (command: AnyCommand): Rule => ({ access: command.role, subject: policyInPath, command });
const readDelivery: Rule = { ...read, subject: deliveryInPath };
const ofDelivery = (command: AnyCommand): Rule => ({
  access: command.role,
  subject: deliveryInPath,
  command,
});
const ofReceiver: Rule = { access: testReceiver.role, subject: receiverInPath, command: testReceiver };
const ofQueue = (command: AnyCommand): Rule => ({ access: command.role, subject: queueInPath, command });
const ofRun = (command: AnyCommand): Rule => ({ access: command.role, subject: runInPath, command });
const programs = true;

/** Those of bull-board, which reads only: its entries are of all policies. */
export const boardRule: Rule = readEverything;
/** Addresses under `/api` that no route has, and all others. */
export const unknownApiRule: Rule = { ...read, programs };
export const unknownPageRule: Rule = read;

export const routes: readonly Route[] = [
  { method: 'GET', path: '/healthz', ...open, handle: sendAlive },
  { method: 'GET', path: '/readyz', ...open, handle: sendReady },

  { method: 'GET', path: '/sign-in', ...open, handle: showSignIn },
  { method: 'POST', path: '/sign-in', ...open, handle: trySignIn },
  { method: 'POST', path: '/sign-in/link', ...open, handle: logNewLink },
  { method: 'GET', path: '/sign-in/oidc', ...open, handle: beginOidc },
  { method: 'GET', path: CALLBACK_PATH, ...open, handle: finishOidc },
  { method: 'GET', path: '/client/:hash/style.css', ...open, handle: sendClientFile },
  { method: 'POST', path: '/sign-out', ...read, handle: endSession },
  // Everyone has only sessions of their own here.
  { method: 'GET', path: '/sessions', ...read, handle: showSessions },
  { method: 'GET', path: '/sessions/end', ...read, handle: askToEndSessions },
  { method: 'POST', path: '/sessions/end', ...read, handle: endSessions },

  { method: 'GET', path: '/', ...read, handle: showOverview },
  { method: 'GET', path: '/system', ...readEverything, handle: showSystem },
  { method: 'GET', path: '/queues', ...readEverything, handle: showQueues },
  { method: 'GET', path: '/runs', ...read, handle: showRuns },
  { method: 'GET', path: '/runs.csv', ...read, handle: sendRunsCsv },
  { method: 'GET', path: '/runs/:id', ...readRun, handle: showRun },
  { method: 'GET', path: '/runs/:id/compare', ...readRun, handle: showCompared },
  { method: 'GET', path: '/runs/:id/targets.csv', ...readRun, handle: sendTargetsCsv },
  { method: 'GET', path: '/findings', ...read, handle: showFindings },
  { method: 'GET', path: '/findings.csv', ...read, handle: sendFindingsCsv },
  { method: 'GET', path: '/approvals', ...read, handle: showApprovals },
  { method: 'GET', path: '/notifications', ...read, handle: showNotifications },
  { method: 'GET', path: '/notifications/:delivery', ...readDelivery, handle: showNotification },
  { method: 'GET', path: '/audit', access: 'operator', handle: showAudit },
  { method: 'GET', path: '/audit.csv', access: 'operator', handle: sendAuditCsv },
  { method: 'GET', path: '/policies', ...read, handle: showPolicies },
  { method: 'GET', path: '/policies.csv', ...read, handle: sendPoliciesCsv },
  { method: 'GET', path: '/policies/:name', ...readPolicy, handle: showPolicy },
  { method: 'GET', path: '/policies/:name/trends', ...readPolicy, handle: showTrends },
  { method: 'GET', path: '/policies/:name/plan', ...readPolicy, handle: showPlan },
  { method: 'GET', path: '/policies/:name/rings', ...readPolicy, handle: showRingsTab },
  { method: 'GET', path: '/policies/:name/definition', ...readPolicy, handle: showDefinition },
  { method: 'GET', path: '/policies/:name/changes', ...readPolicy, handle: showChanges },
  { method: 'GET', path: '/sites', ...read, handle: showSites },
  { method: 'GET', path: '/sites.csv', ...read, handle: sendSitesCsv },
  { method: 'GET', path: '/targets/:account/:id', ...read, handle: showTarget },
  { method: 'GET', path: '/schedule', ...read, handle: showSchedule },
  { method: 'GET', path: '/schedule.csv', ...read, handle: sendScheduleCsv },
  { method: 'GET', path: '/budget', ...read, handle: showBudget },
  { method: 'GET', path: '/search', ...read, handle: showSearch },
  { method: 'GET', path: '/search/suggestions', ...read, handle: sendSuggestions },
  { method: 'GET', path: '/client/:hash/:file', ...read, handle: sendClientFile },
  { method: 'GET', path: '/events', ...read, handle: sendPage },

  // It changes nothing, and spends requests of the account.
  { method: 'POST', path: '/policies/:name/plan', ...ofPolicy(planPolicy), handle: makePlan },
  // A GET asks for confirmation and changes nothing; the POST to the same address makes the change.
  { method: 'GET', path: '/policies/:name/run', ...ofPolicy(runPolicy), handle: askToRun },
  { method: 'POST', path: '/policies/:name/run', ...ofPolicy(runPolicy), handle: runNow },
  { method: 'GET', path: '/policies/:name/pause', ...ofPolicy(pausePolicy), handle: askToPause },
  { method: 'POST', path: '/policies/:name/pause', ...ofPolicy(pausePolicy), handle: pause },
  { method: 'GET', path: '/policies/:name/resume', ...ofPolicy(resumePolicy), handle: askToResume },
  { method: 'POST', path: '/policies/:name/resume', ...ofPolicy(resumePolicy), handle: resume },
  ...(
    [
      ['hold', holdRings, askAboutRing('hold'), changeRing('hold')],
      ['unhold', unholdRings, askAboutRing('unhold'), changeRing('unhold')],
      ['release', releaseVersion, askToRelease, release],
    ] as const
  ).flatMap(([name, command, ask, act]): Route[] => [
    { method: 'GET', path: `/policies/:name/rings/${name}`, ...ofPolicy(command), handle: ask },
    { method: 'POST', path: `/policies/:name/rings/${name}`, ...ofPolicy(command), handle: act },
  ]),
  { method: 'GET', path: '/queues/:queue/pause', ...ofQueue(pauseQueues), handle: askToPauseQueue },
  { method: 'POST', path: '/queues/:queue/pause', ...ofQueue(pauseQueues), handle: pauseQueue },
  { method: 'GET', path: '/queues/:queue/resume', ...ofQueue(resumeQueues), handle: askToResumeQueue },
  { method: 'POST', path: '/queues/:queue/resume', ...ofQueue(resumeQueues), handle: resumeQueue },
  // The command checks the role for each of the policies or runs.
  { method: 'GET', path: '/bulk/pause', access: pausePolicy.role, handle: askToPauseMany },
  { method: 'POST', path: '/bulk/pause', access: pausePolicy.role, handle: pauseMany },
  { method: 'GET', path: '/bulk/resume', access: resumePolicy.role, handle: askToResumeMany },
  { method: 'POST', path: '/bulk/resume', access: resumePolicy.role, handle: resumeMany },
  { method: 'GET', path: '/bulk/run', access: runPolicy.role, handle: askToRunMany },
  { method: 'POST', path: '/bulk/run', access: runPolicy.role, handle: runMany },
  {
    method: 'GET',
    path: '/notifications/:delivery/resend',
    ...ofDelivery(resendDelivery),
    handle: askToResend,
  },
  { method: 'POST', path: '/notifications/:delivery/resend', ...ofDelivery(resendDelivery), handle: resend },
  { method: 'GET', path: '/receivers/:receiver/test', ...ofReceiver, handle: askToTest },
  { method: 'POST', path: '/receivers/:receiver/test', ...ofReceiver, handle: test },
  { method: 'GET', path: '/bulk/retry', access: retryRun.role, handle: askToRetryMany },
  { method: 'POST', path: '/bulk/retry', access: retryRun.role, handle: retryMany },
  {
    method: 'GET',
    path: '/bulk/acknowledge',
    access: acknowledgeFindings.role,
    handle: askToAcknowledgeMany,
  },
  { method: 'POST', path: '/bulk/acknowledge', access: acknowledgeFindings.role, handle: acknowledgeMany },
  { method: 'GET', path: '/bulk/resend', access: resendDelivery.role, handle: askToResendMany },
  { method: 'POST', path: '/bulk/resend', access: resendDelivery.role, handle: resendMany },
  { method: 'GET', path: '/bulk/cancel', access: cancelRun.role, handle: askToCancelMany },
  { method: 'POST', path: '/bulk/cancel', access: cancelRun.role, handle: cancelMany },
  // The commands check the role for what is frozen.
  { method: 'GET', path: '/freezes/add', access: beginFreeze.role, handle: askToFreeze },
  { method: 'POST', path: '/freezes/add', access: beginFreeze.role, handle: addFreeze },
  { method: 'GET', path: '/freezes/:freeze/end', access: endFreeze.role, handle: askToEndFreeze },
  { method: 'POST', path: '/freezes/:freeze/end', access: endFreeze.role, handle: endFreezeNow },
  // The handlers check the role for the policy of the finding.
  ...(
    [
      ['acknowledge', acknowledgeFindings, askToAcknowledge, acknowledge],
      ['unacknowledge', unacknowledgeFindings, askToUnacknowledge, unacknowledge],
    ] as const
  ).flatMap(([name, { role }, ask, act]): Route[] => [
    { method: 'GET', path: `/findings/${name}`, access: role, handle: ask },
    { method: 'POST', path: `/findings/${name}`, access: role, handle: act },
  ]),
  // The handler checks the role for the announcement.
  {
    method: 'GET',
    path: '/announcements/:id/cancel',
    access: cancelAnnouncement.role,
    handle: askToCancelAnnouncement,
  },
  {
    method: 'POST',
    path: '/announcements/:id/cancel',
    access: cancelAnnouncement.role,
    handle: cancelAnnounced,
  },
  { method: 'GET', path: '/runs/:id/cancel', ...ofRun(cancelRun), handle: askToCancel },
  { method: 'POST', path: '/runs/:id/cancel', ...ofRun(cancelRun), handle: cancel },
  { method: 'GET', path: '/runs/:id/end', ...ofRun(forceEndRun), handle: askToForceEnd },
  { method: 'POST', path: '/runs/:id/end', ...ofRun(forceEndRun), handle: forceEnd },
  { method: 'GET', path: '/runs/:id/retry', ...ofRun(retryRun), handle: askToRetry },
  { method: 'POST', path: '/runs/:id/retry', ...ofRun(retryRun), handle: retry },
  { method: 'GET', path: '/runs/:id/approve', ...ofRun(approveRun), handle: askToApprove },
  { method: 'POST', path: '/runs/:id/approve', ...ofRun(approveRun), handle: approve },
  { method: 'GET', path: '/runs/:id/reject', ...ofRun(rejectRun), handle: askToReject },
  { method: 'POST', path: '/runs/:id/reject', ...ofRun(rejectRun), handle: reject },
  { method: 'GET', path: '/runs/:id/resume', ...ofRun(resumeRun), handle: askToResumeRun },
  { method: 'POST', path: '/runs/:id/resume', ...ofRun(resumeRun), handle: resumeOne },

  { method: 'GET', path: '/metrics', ...readEverything, programs, handle: sendMetrics },
  { method: 'GET', path: '/api/v1/events', ...read, programs, handle: sendEvents },
  { method: 'GET', path: '/api/v1/openapi.json', ...read, programs, handle: sendOpenApi },
  ...commandRoutes.map((route): Route => ({ ...route, ...read, programs })),
];
