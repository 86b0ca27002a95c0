import { describe, expect, test } from 'vitest';
import { checkInput } from '../../src/contract/input.ts';
import type { OperationId } from '../../src/contract/operations.ts';

/** The faults as text. */
const faults = (id: OperationId, input: unknown) =>
  checkInput(id, input).map(({ path, message }) => `${path.join('.')} ${message}`.trim());
const inBody = (id: OperationId, body: unknown, parameters: object = {}) =>
  faults(id, { ...parameters, body });

describe('a request', () => {
  test.each<[OperationId, unknown]>([
    ['listSites', {}],
    ['listSites', { page: 2, perPage: 50, timezone: 'Europe/Berlin', sort: 'url,asc' }],
    ['listSites', { filters: { tags: { in: ['12', 13] }, paused: { eq: false } } }],
    ['listSites', { page: undefined, filters: { php_version: { gt: '7.4', lt: 8.1 } } }],
    ['listBackupDestinations', {}],
    ['showSite', { site_id: 's-1' }],
    ['syncSite', { site_id: 's-1' }],
    ['syncSite', { site_id: 's-1', body: { sync: { message: 'Nightly' } } }],
    ['generateStagingSiteWpSsoLoginUrl', { staging_site_id: 's', wp_object_id: '12' }],
    ['generateStagingSiteWpSsoLoginUrl', { staging_site_id: 's', wp_object_id: '' }],
    ['updateSite', { site_id: 's', body: { site: { connection: { http_auth: null } } } }],
    ['updateSenderEmail', { sender_email_id: 's', body: { sender_email: { hostname: 'mail.test' } } }],
  ])('%s takes %j', (id, input) => {
    expect(checkInput(id, input)).toEqual([]);
  });

  test('with a misspelled name is refused with the available names', () => {
    expect(checkInput('listTags', { filter: {} })).toEqual([
      {
        path: ['filter'],
        message: 'is not taken here',
        allowed: ['page', 'perPage', 'timezone', 'sort', 'filters'],
        form: true,
      },
    ]);
    expect(checkInput('createTag', { body: { tag: { name: 'shop', colour: '#fff' } } })).toEqual([
      {
        path: ['body', 'tag', 'colour'],
        message: 'is not taken here',
        allowed: ['name', 'color'],
        form: true,
      },
    ]);
  });

  test.each([
    [{}, 'site_id is missing'],
    [{ site_id: 7 }, 'site_id is not a string'],
    [{ site_id: ' ' }, 'site_id is not a valid id'],
    [{ site_id: '..' }, 'site_id is not a valid id'],
    [{ site_id: 'a', body: {} }, 'body is not taken here'],
  ])('for one site with %j: %s', (input, fault) => {
    expect(faults('showSite', input)).toEqual([fault]);
  });

  test.each([null, [], 'site_id=7'])('cannot be made of %j', (input) => {
    expect(faults('showSite', input)).toEqual(['must be an object']);
  });

  test('without a required body is refused', () => {
    expect(faults('createTag', {})).toEqual(['body is missing']);
  });

  test('for a list that is not paged takes no page', () => {
    expect(faults('listBackupDestinations', { page: 2 })).toContain('page this list is not paged');
  });

  test('for a sign-in address takes digits only', () => {
    expect(
      faults('generateStagingSiteWpSsoLoginUrl', { staging_site_id: 's', wp_object_id: 'root' }),
    ).toEqual(['wp_object_id must be digits, or blank for the default user']);
  });
});

describe('the body of a request', () => {
  const site = { site_id: 's' };
  const backup = { site_id: 's', snapshot_id: 'n' };

  test.each([
    [{ title: 'x'.repeat(151), performed_on: '2026-11-21' }, 'title must have at most 150 characters'],
    [{ title: ' ', performed_on: '2026-11-21' }, 'title must not be blank'],
    [{ title: 'Cleanup', performed_on: '21.11.2026' }, 'performed_on is not a day such as 2026-12-20'],
    [{ title: 'Cleanup' }, 'performed_on is missing'],
    [
      { title: 'Cleanup', performed_on: '2026-11-21', description: 'x'.repeat(501) },
      'description must have at most 500 characters',
    ],
  ])('custom work %j is refused', (work, fault) => {
    const [first] = inBody('createSiteCustomWorks', { custom_works: [work] }, site);

    expect(first).toContain(`body.custom_works.0.${fault}`);
  });

  test('custom work may be described as nothing, and is changed by one field at least', () => {
    const update = (custom_work: object) =>
      inBody('updateSiteCustomWork', { custom_work }, { ...site, custom_work_id: 'w' });

    expect(update({ description: '' })).toEqual([]);
    expect(update({})).toEqual(['body.custom_work must hold at least one field']);
  });

  test('a note says something, in 2500 characters at most', () => {
    const write = (content: string) => inBody('createSiteNote', { note: { content } }, site);

    expect(write('x'.repeat(2500))).toEqual([]);
    expect(write('x'.repeat(2501))).toHaveLength(1);
    expect(write('\n ')).toEqual(['body.note.content must not be blank']);
  });

  test('paths and tables are sent only with files and database', () => {
    const download = (scope: object) => inBody('startSiteBackupDownload', { download: { scope } }, backup);

    expect(download({ include_files: true, paths: ['/a'], include_database: true, tables: ['t'] })).toEqual(
      [],
    );
    expect(download({ include_files: false, paths: ['/a'], tables: ['t'] })).toEqual([
      'body.download.scope.paths is sent only when include_files is true',
      'body.download.scope.tables is sent only when include_database is true',
    ]);
  });

  test('real-time events end at a time', () => {
    const create = (real_time_events: object) =>
      inBody('createStagingSite', {
        staging_site: { site_id: 's', snapshot_id: 'n', options: { real_time_events } },
      });

    expect(create({ enabled: false })).toEqual([]);
    expect(create({ enabled: true, until: '2026-11-21T02:00:00Z' })).toEqual([]);
    expect(create({ enabled: true })).toEqual([
      'body.staging_site.options.real_time_events.until is required when enabled is true',
    ]);
  });

  test('an upload names a saved destination for provider_two, and none for provider_one', () => {
    const upload = (destination: object) =>
      inBody('startSiteBackupUpload', { upload: { destination, scope: { include_files: true } } }, backup);

    expect(upload({ provider: 'provider_one' })).toEqual([]);
    expect(upload({ provider: 'provider_two', id: 'd' })).toEqual([]);
    expect(upload({ provider: 'provider_one', id: 'd' })).toHaveLength(1);
    expect(upload({ provider: 'provider_two' })).toHaveLength(1);
    expect(upload({ provider: 'provider_three' })).toEqual([
      'body.upload.destination.provider is not one of provider_one, provider_two',
    ]);
  });

  test('an external migration uses ftp', () => {
    const migrate = (migration: object) =>
      inBody('startSiteBackupMigration', { migration: { scope: {}, ...migration } }, backup);

    expect(migrate({ type: 'internal' })).toEqual([]);
    expect(migrate({ type: 'external', connection: { method: 'ftp', server: {} } })).toEqual([]);
    expect(migrate({ type: 'external', connection: { method: 'http' } })).toHaveLength(1);
    expect(migrate({ type: 'external' })).toHaveLength(1);
  });

  test('a schedule for specific sites names them', () => {
    const create = (sites: object) =>
      inBody('createAutoUpdateSchedule', {
        auto_update_schedule: {
          name: 'Weekly',
          schedule: 'weekly_on_day',
          started_at: '2026-11-21T02:00:00Z',
          scope: { sites, updates: { wordpress_core: true, plugins: { selection: 'all' } } },
        },
      });

    expect(create({ selection: 'all' })).toEqual([]);
    expect(create({ selection: 'specific' })).toEqual([
      'body.auto_update_schedule.scope.sites.ids is required when selection is specific',
    ]);
  });
});
