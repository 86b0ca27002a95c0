/** Every address of the dashboard, who may request it, and its handler. Those of bull-board are in `board.ts`. */

import { planPolicy } from '../../control/commands/plan-policy.ts';
import { findingChanges } from '../actions/acknowledge.tsx';
import { announcementChange } from '../actions/announcement.tsx';
import { bulkFindingChange } from '../actions/bulk-findings.tsx';
import { bulkPolicyChanges } from '../actions/bulk-policies.tsx';
import type { Change } from '../actions/confirm.tsx';
import { freezeChanges } from '../actions/freeze.tsx';
import { notificationChanges } from '../actions/notification.tsx';
import { makePlan, policyChanges } from '../actions/policy.tsx';
import { queueChanges } from '../actions/queues.tsx';
import { ringChanges } from '../actions/rings.tsx';
import { rolloutChanges } from '../actions/rollout.tsx';
import { bulkRunChanges, runChanges } from '../actions/run.tsx';
import { sessionChange } from '../actions/sessions.tsx';
import { commandRoutes } from '../api/commands.ts';
import { sendOpenApi } from '../api/openapi.ts';
import { deliveryInPath, everything, onPolicy, policyInPath, type Rule, runInPath } from '../auth/guard.tsx';
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
const readDelivery: Rule = { ...read, subject: deliveryInPath };
const programs = true;

/** Those of bull-board, which reads only: its entries are of all policies. */
export const boardRule: Rule = readEverything;
/** Addresses under `/api` that no route has, and all others. */
export const unknownApiRule: Rule = { ...read, programs };
export const unknownPageRule: Rule = read;

const changes: readonly Change[] = [
  sessionChange,
  ...policyChanges,
  ...ringChanges,
  ...queueChanges,
  ...Object.values(bulkPolicyChanges),
  ...Object.values(bulkRunChanges),
  bulkFindingChange,
  ...notificationChanges,
  ...freezeChanges,
  ...findingChanges,
  announcementChange,
  ...runChanges,
  ...rolloutChanges,
];

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
  { method: 'POST', path: '/policies/:name/plan', ...onPolicy(planPolicy), handle: makePlan },
  ...changes.flatMap(({ ask, act, ...rule }): Route[] => [
    { method: 'GET', ...rule, handle: ask },
    { method: 'POST', ...rule, handle: act },
  ]),

  { method: 'GET', path: '/metrics', ...readEverything, programs, handle: sendMetrics },
  { method: 'GET', path: '/api/v1/events', ...read, programs, handle: sendEvents },
  { method: 'GET', path: '/api/v1/openapi.json', ...read, programs, handle: sendOpenApi },
  ...commandRoutes.map((route): Route => ({ ...route, ...read, programs })),
];
