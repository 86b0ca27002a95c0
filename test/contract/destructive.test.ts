import { expect, test } from 'vitest';
import { isDestructive } from '../../src/contract/destructive.ts';
import { isOperationId, operations } from '../../src/contract/operations.ts';

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
    'startSiteBackupMigration',
  ]);
});
