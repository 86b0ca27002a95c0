/** Every command. The HTTP API, its document, the tables of roles and their tests are made from this list. */
import type { AnyCommand, BaseDeps } from './command.ts';
import { acknowledgeFindings, unacknowledgeFindings } from './commands/acknowledge-findings.ts';
import { type AnnouncementDeps, cancelAnnouncement, listAnnouncements } from './commands/announcements.ts';
import { type ApplyDeps, applyPlan, type CheckPlanDeps, checkPlan } from './commands/apply-plan.ts';
import { type ApproveDeps, approveRun, listApprovals, rejectRun } from './commands/approve-run.ts';
import { backfillPolicy, previewBackfill } from './commands/backfill.ts';
import { type ChangeRunDeps, cancelRun, forceEndRun, retryRun } from './commands/change-run.ts';
import { compareRuns } from './commands/compare-runs.ts';
import { beginFreeze, endFreeze } from './commands/freeze.ts';
import { listAudit } from './commands/list-audit.ts';
import { type BudgetDeps, listBudgets } from './commands/list-budgets.ts';
import { listFindingsCommand } from './commands/list-findings.ts';
import { listFreezes } from './commands/list-freezes.ts';
import {
  explainPolicy,
  listPolicies,
  type ShowPolicyDeps,
  showPolicy,
  showPolicyReport,
} from './commands/list-policies.ts';
import {
  listQueues,
  pauseQueues,
  type QueueCountDeps,
  type QueueDeps,
  resumeQueues,
} from './commands/list-queues.ts';
import { findProcess, listRunsCommand, listTargets, showRun, showTarget } from './commands/list-runs.ts';
import { listSchedule } from './commands/list-schedule.ts';
import { listSitesCommand } from './commands/list-sites.ts';
import { listDeliveries, resendDelivery } from './commands/notifications.ts';
import { type PauseDeps, pausePolicy, resumePolicy } from './commands/pause-policy.ts';
import { type PlanPolicyDeps, planPolicy, type SavePlanDeps, savePlan } from './commands/plan-policy.ts';
import { type ResumeDeps, resumeRun } from './commands/resume-run.ts';
import { holdRings, releaseVersion, showRings, unholdRings } from './commands/rings.ts';
import { type FireDeps, runPolicy } from './commands/run-policy.ts';
import { showSite } from './commands/show-site.ts';
import { showStatus } from './commands/show-status.ts';
import { type TestReceiverDeps, testReceiver } from './commands/test-receiver.ts';
import type { FreezeDeps } from './freeze-names.ts';
import type { SitesDeps } from './sites.ts';

/** What all commands need together. */
export type ControlDeps = BaseDeps &
  PlanPolicyDeps &
  FireDeps &
  ApplyDeps &
  PauseDeps &
  ChangeRunDeps &
  QueueDeps &
  QueueCountDeps &
  ApproveDeps &
  AnnouncementDeps &
  FreezeDeps &
  ResumeDeps &
  ShowPolicyDeps &
  SavePlanDeps &
  BudgetDeps &
  TestReceiverDeps &
  CheckPlanDeps &
  SitesDeps;

export const commands: readonly AnyCommand[] = [
  listPolicies,
  showPolicyReport,
  listRunsCommand,
  showRun,
  listTargets,
  compareRuns,
  showTarget,
  listSitesCommand,
  showSite,
  runPolicy,
  backfillPolicy,
  applyPlan,
  pausePolicy,
  resumePolicy,
  showRings,
  holdRings,
  unholdRings,
  releaseVersion,
  cancelRun,
  forceEndRun,
  retryRun,
  approveRun,
  rejectRun,
  resumeRun,
  beginFreeze,
  endFreeze,
  showStatus,
  listQueues,
  pauseQueues,
  resumeQueues,
  planPolicy,
  savePlan,
  checkPlan,
  previewBackfill,
  showPolicy,
  explainPolicy,
  listSchedule,
  listAudit,
  listFindingsCommand,
  acknowledgeFindings,
  unacknowledgeFindings,
  listFreezes,
  listBudgets,
  listApprovals,
  listAnnouncements,
  cancelAnnouncement,
  listDeliveries,
  resendDelivery,
  testReceiver,
  findProcess,
];
