/** All handlers by operation. A missing handler does not compile, and neither does one of an unknown operation. */
import { type OperationId, operationIds } from '../../contract/operations.ts';
import * as activityLogs from './activity-logs.ts';
import * as autoUpdates from './auto-updates.ts';
import * as backupDestinations from './backup-destinations.ts';
import * as backups from './backups.ts';
import * as branding from './branding.ts';
import * as clients from './clients.ts';
import * as customWorks from './custom-works.ts';
import type { Handler } from './handler.ts';
import * as managedAccounts from './managed-accounts.ts';
import * as notes from './notes.ts';
import * as reportTemplates from './report-templates.ts';
import * as reports from './reports.ts';
import * as scheduledReports from './scheduled-reports.ts';
import * as senderEmails from './sender-emails.ts';
import * as sites from './sites.ts';
import * as snapshots from './snapshots.ts';
import * as stagingSites from './staging-sites.ts';
import * as tags from './tags.ts';
import * as tasks from './tasks.ts';
import * as teamMembers from './team-members.ts';

const exported: { readonly [Id in OperationId]: Handler<Id> } = {
  ...autoUpdates,
  ...branding,
  ...clients,
  ...reportTemplates,
  ...reports,
  ...scheduledReports,
  ...senderEmails,
  ...sites,
  ...snapshots,
  ...tags,
  ...tasks,
  ...teamMembers,
  ...stagingSites,
  ...notes,
  ...managedAccounts,
  ...customWorks,
  ...backups,
  ...backupDestinations,
  ...activityLogs,
};

/** The files export also what other resources need of them. */
export const handlers = Object.fromEntries(operationIds.map((id) => [id, exported[id]])) as typeof exported;
