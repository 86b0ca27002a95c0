import { expect, test } from 'vitest';
import {
  isDestructive,
  isOperationId,
  operationOf,
  operations,
  whyDestructive,
} from '../../src/contract/operations.ts';

test('the list of destructive operations is complete: a new operation has to be classified', () => {
  const destructive = Object.keys(operations).filter((id) => isOperationId(id) && isDestructive(id));
  expect(destructive.sort()).toEqual([
    'cancelTask',
    'deleteAutoUpdateSchedule',
    'deleteClients',
    'deleteManagedAccount',
    'deleteReport',
    'deleteReportTemplates',
    'deleteScheduledReport',
    'deleteSenderEmail',
    'deleteSite',
    'deleteSiteCustomWork',
    'deleteSiteNote',
    'deleteStagingSite',
    'deleteTag',
    'deleteTeamMember',
    'disableAutoUpdateSchedule',
    'disableSiteActivityLogs',
    'disconnectBackupDestination',
    'rejectManagedAccount',
    'removeTag',
    'resetPluginBranding',
    'resetWpLogin',
    'rotateSenderEmailDkim',
    'sendReportEmail',
    'startSiteBackupMigration',
  ]);
});

test('why an operation is destructive is said in a sentence, and reading is never destructive', () => {
  for (const id of Object.keys(operations).filter(isOperationId)) {
    const why = whyDestructive(id);
    if (why === undefined) continue;
    expect(why, id).toMatch(/^[A-Z].+\.$/);
    expect(operationOf(id).effect, id).toBeDefined();
  }
});
