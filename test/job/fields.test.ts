import { expect, test } from 'vitest';
import { SiteDetails } from '../../src/contract/operations/sites.ts';
import type { Field, FieldTree } from '../../src/expression/fields.ts';
import { fieldsOf, fieldsOfItem } from '../../src/job/fields.ts';

/** The field that a condition uses: `sync.last_sync_at`. */
function fieldAt(fields: FieldTree, path: string): Field | undefined {
  const [name = '', ...rest] = path.split('.');
  const field = fields[name];
  return rest.length > 0 && field?.kind === 'object' ? fieldAt(field.fields, rest.join('.')) : field;
}

test('conditions distinguish the times, days, counts, states and lists of a listed item', () => {
  const site = fieldsOfItem('listSites');

  expect(fieldAt(site, 'created_at')).toEqual({ kind: 'timestamp', nullable: false, optional: false });
  expect(fieldAt(site, 'sync.last_sync_at')).toMatchObject({ kind: 'timestamp', nullable: true });
  expect(fieldAt(site, 'backups.retention_days')).toMatchObject({ kind: 'number' });
  expect(fieldAt(site, 'locked')).toMatchObject({ kind: 'boolean' });
  expect(fieldAt(site, 'connection.status')).toMatchObject({
    kind: 'string',
    values: ['connected', 'disconnected'],
  });
  expect(fieldAt(site, 'tags')).toMatchObject({
    kind: 'list',
    of: { kind: 'object', fields: { id: { kind: 'string' }, name: { kind: 'string' } } },
  });
  expect(fieldAt(fieldsOfItem('listReports'), 'start_date')).toMatchObject({ kind: 'day' });
});

test('a listed site lacks the fields that only the single view contains', () => {
  expect(fieldAt(fieldsOfItem('listSites'), 'wp.core.vulnerable')).toBeUndefined();
  expect(fieldAt(fieldsOf(SiteDetails), 'wp.core.vulnerable')).toMatchObject({ kind: 'boolean' });
});

test('fields that the specification makes optional are optional; those that are merely tolerated as absent are not', () => {
  const schedule = fieldsOfItem('listAutoUpdateSchedules');

  expect(fieldAt(schedule, 'scope.sites.ids')).toMatchObject({ optional: true });
  expect(fieldAt(schedule, 'name')).toMatchObject({ optional: false });
});

test('a value whose type the specification does not define can be anything', () => {
  expect(fieldAt(fieldsOfItem('listSiteActivityLogs'), 'event_details')).toMatchObject({
    kind: 'map',
    of: { kind: 'any' },
  });
});
