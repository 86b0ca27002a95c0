import { describe, expect, test } from 'vitest';
import { ContractError, meaningOf, problemOf, readAnswer, refusalOf } from '../../src/contract/answers.ts';
import type { Operation } from '../../src/contract/operation.ts';
import { type OperationId, operations } from '../../src/contract/operations.ts';
import { published } from '../../src/contract/schema.ts';
import { sampleOf } from './sample.ts';

type Loose = Record<string, unknown>;
const answering = (Object.entries(operations) as [OperationId, Operation][]).flatMap(([id, { answer }]) =>
  answer ? [{ id, answer }] : [],
);

/** A page of two sites as the spec has it, changed by the test before it is read. */
function pageOfSites(change: (first: Loose, second: Loose) => void = () => undefined): Loose {
  const page = sampleOf(operations.listSites.answer) as { sites: [Loose, Loose] };
  change(...page.sites);
  return page;
}

describe('reading an answer', () => {
  test.each(answering)('$id: an answer that matches the spec is no drift', ({ id, answer }) => {
    const body = sampleOf(answer);

    expect(published(answer).safeParse(body).success).toBe(true);
    expect(readAnswer(id, body)).toEqual({ value: body, drift: [] });
  });

  test('fields and states that the service adds later are allowed, and are no drift', () => {
    const body = pageOfSites((first) =>
      Object.assign(first, { health: { score: 3 }, connection: { status: 'dormant', since: 'May' } }),
    );

    const { value, drift } = readAnswer('listSites', body);

    expect(drift).toEqual([]);
    expect(value.sites[0]).toMatchObject({ health: { score: 3 }, connection: { status: 'dormant' } });
    expect(published(operations.listSites.answer).safeParse(body).success).toBe(false);
  });

  test('a site that was never synced or backed up is read like any other', () => {
    const body = pageOfSites(({ sync, backups }) => {
      Object.assign(sync as Loose, { last_sync_at: null, next_sync_at: null });
      Object.assign(backups as Loose, { latest_snapshot: null });
    });

    expect(readAnswer('listSites', body).drift).toEqual([]);
  });

  test.each([
    '2026-11-21T02:00:00Z',
    '2026-11-21T02:00:00.000Z',
    '2026-11-21T02:00:00+00:00',
    '2026-11-21T02:00:00.000000+00:00',
    '2026-11-21T03:00:00+01:00',
    '2026-11-21T02:00:00+0000',
    '2026-11-21T02:00Z',
    '2026-11-21 02:00:00 UTC',
    '2026-11-21T02:00:00',
  ])('an instant spelled %s is read as every other spelling of it, and is no drift', (spelled) => {
    const body = pageOfSites((first) => Object.assign(first, { updated_at: spelled }));

    const { value, drift } = readAnswer('listSites', body);

    expect(drift).toEqual([]);
    expect(value.sites[0]?.updated_at).toBe('2026-11-21T02:00:00.000Z');
  });

  test.each(['yesterday', '2026-02-30T02:00:00Z', '2026-11-21', ''])(
    'the text %j is no timestamp: it is left out and counted',
    (spelled) => {
      const body = pageOfSites((first) => Object.assign(first, { updated_at: spelled }));

      const { value, drift } = readAnswer('listSites', body);

      expect(value.sites[0]?.updated_at).toBeUndefined();
      expect(drift).toMatchObject([{ path: 'sites[0].updated_at', message: 'is not a datetime' }]);
    },
  );

  test.each(['0001-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'])(
    'the zero time %s stands for none: it is null where the service can say so, else left out, and counted',
    (zero) => {
      const body = pageOfSites((first) => {
        Object.assign(first, { updated_at: zero });
        Object.assign(first['sync'] as Loose, { last_sync_at: zero });
      });

      const { value, drift } = readAnswer('listSites', body);

      expect(value.sites[0]?.updated_at).toBeUndefined();
      expect(value.sites[0]?.sync?.last_sync_at).toBeNull();
      expect(drift).toMatchObject([{ path: 'sites[0].updated_at' }, { path: 'sites[0].sync.last_sync_at' }]);
    },
  );

  test('a missing optional field is counted, and the rest is read', () => {
    const body = pageOfSites((_, second) => Reflect.deleteProperty(second, 'title'));

    const { value, drift } = readAnswer('listSites', body);

    expect(drift).toEqual([
      { operation: 'listSites', path: 'sites[1].title', field: 'sites.*.title', message: 'is missing' },
    ]);
    expect(value.sites).toHaveLength(2);
    expect(value.sites[1]?.url).toBe('some text');
  });

  test('wrong optional values are dropped one by one, each counted', () => {
    const body = pageOfSites((first) => {
      Object.assign(first, { locked: 'no', tags: [{ id: '12', name: 'shop' }, { name: 'blog' }] });
      Object.assign(first['server'] as Loose, { hosting: 5 });
    });
    const before = structuredClone(body);

    const { value, drift } = readAnswer('listSites', body);

    expect(drift.map(({ path, message }) => `${path} ${message}`)).toEqual([
      'sites[0].tags[1].id is missing',
      'sites[0].server.hosting is not a string',
      'sites[0].locked is not a boolean',
    ]);
    expect(value.sites[0]).not.toHaveProperty('locked');
    expect(value.sites[0]).not.toHaveProperty('tags');
    expect(value.sites[0]?.server).toEqual({ mysql_version: 'some text', php_version: 'some text' });
    expect(body).toEqual(before);
  });

  test('numbers and booleans that are sent as text are converted, and counted', () => {
    const body = pageOfSites((first) => Object.assign(first, { locked: 'true' }));
    body['meta'] = { pagination: { page: '1', perPage: '100', totalPages: '3', totalItems: '250' } };

    const { value, drift } = readAnswer('listSites', body);

    expect(value.meta?.pagination).toEqual({ page: 1, perPage: 100, totalPages: 3, totalItems: 250 });
    expect(value.sites[0]?.locked).toBe(true);
    expect(drift.map(({ field, message }) => `${field} ${message}`)).toEqual([
      'sites.*.locked is not a boolean',
      'meta.pagination.page is not a number',
      'meta.pagination.perPage is not a number',
      'meta.pagination.totalPages is not a number',
      'meta.pagination.totalItems is not a number',
    ]);
  });

  test.each(['', ' 3', '3 pages', '0x3', '1e2', '03', '3.5', '9007199254740993', 'many'])(
    'a string that is not plainly the number asked for is left out (%j)',
    (text) => {
      const body = pageOfSites();
      body['meta'] = { pagination: { page: 1, perPage: 100, totalPages: text, totalItems: 250 } };
      const { value } = readAnswer('listSites', body);
      expect(value.meta?.pagination).toEqual({ page: 1, perPage: 100, totalItems: 250 });
    },
  );

  test('an id that is sent as a number is converted to text, and counted; other texts are not', () => {
    const body = pageOfSites((first) => Object.assign(first, { id: 12, title: 2026 }));
    const { value, drift } = readAnswer('listSites', body);
    expect(value.sites[0]?.id).toBe('12');
    expect(value.sites[0]).not.toHaveProperty('title');
    expect(drift.map(({ field }) => field)).toEqual(['sites.*.id', 'sites.*.title']);
  });

  test('a page without its meta is read, and that is counted', () => {
    const body = pageOfSites();
    Reflect.deleteProperty(body, 'meta');
    const { value, drift } = readAnswer('listSites', body);
    expect(value.sites).toHaveLength(2);
    expect(drift.map(({ field }) => field)).toEqual(['meta']);
  });

  test('an optional object that lacks a needed field is dropped as a whole', () => {
    const body = pageOfSites(({ sync }) => Reflect.deleteProperty(sync as Loose, 'in_progress'));

    const { value, drift } = readAnswer('listSites', body);

    expect(drift.map(({ path }) => path)).toEqual(['sites[0].sync.in_progress']);
    expect(value.sites[0]).not.toHaveProperty('sync');
    expect(value.sites[1]?.sync?.in_progress).toBe(true);
  });

  test('a site without an id cannot be used, and the error names it', () => {
    const body = pageOfSites((_, second) => Reflect.deleteProperty(second, 'id'));

    const reading = () => readAnswer('listSites', body);

    expect(reading).toThrow('listSites answered something we cannot use: sites[1].id is missing.');
    expect(reading).toThrow(ContractError);
    expect(reading).toThrow(
      expect.objectContaining({ code: 'CONTRACT_BROKEN', operation: 'listSites', path: 'sites[1].id' }),
    );
  });

  test.each([
    ['nothing', undefined, 'the body is missing'],
    ['a string', '<html>', 'the body is not a object'],
    ['another object', { ok: true }, 'sync is missing'],
    ['a snapshot id of another type', { sync: { snapshot_id: true } }, 'sync.snapshot_id is not a string'],
    ['a number that is no id', { sync: { snapshot_id: 7.5 } }, 'sync.snapshot_id is not a string'],
    [
      'a number too large to be exact',
      { sync: { snapshot_id: 2 ** 60 } },
      'sync.snapshot_id is not a string',
    ],
  ])('%s in place of a started sync cannot be used', (_what, body, says) => {
    expect(() => readAnswer('syncSite', body)).toThrow(`syncSite answered something we cannot use: ${says}.`);
  });

  test('errors and drift never repeat a value, which may be a secret', () => {
    const body = sampleOf(operations.showSite.answer) as { site: Loose };
    Object.assign(body.site, { connection: { status: 4, http_auth: 'hunter2' } });

    expect(JSON.stringify(readAnswer('showSite', body).drift)).not.toContain('hunter2');
  });

  test('deleting answers nothing, whatever the body', () => {
    expect(readAnswer('deleteSite', '')).toEqual({ value: undefined, drift: [] });
  });

  test('the answer to enabling backups is not specified, so any object is accepted', () => {
    expect(readAnswer('enableSiteBackups', { backups: { enabled: true } }).drift).toEqual([]);
  });
});

test.each([
  [200, 'ok'],
  [201, 'ok'],
  [204, 'ok'],
  [301, 'redirected'],
  [400, 'rejected'],
  [401, 'refused'],
  [403, 'refused'],
  [404, 'gone'],
  [407, 'unavailable'],
  [408, 'unavailable'],
  [409, 'conflict'],
  [418, 'rejected'],
  [421, 'unavailable'],
  [422, 'rejected'],
  [425, 'unavailable'],
  [451, 'rejected'],
  [429, 'rate-limited'],
  [500, 'unavailable'],
  [503, 'unavailable'],
])('status %i means %s', (status, meaning) => {
  expect(meaningOf(status)).toBe(meaning);
});

describe('the message of an error body', () => {
  test.each([
    [{ error: { code: 'not_found', message: 'No such site.' } }, 'No such site.', 'not_found'],
    [{ message: 'No such site.', code: 'not_found' }, 'No such site.', 'not_found'],
    [{ error: 'No such site.' }, 'No such site.', undefined],
    [{ error: 'not_found', message: 'No such site.' }, 'No such site.', 'not_found'],
    [{ error: 'site_disconnected' }, 'site_disconnected', 'site_disconnected'],
    [{ statusCode: 409, error: 'Conflict', message: 'A sync is running.' }, 'A sync is running.', undefined],
    [{ title: 'Unprocessable', detail: 'The site is locked.' }, 'The site is locked.', undefined],
    [{ title: 'Unprocessable' }, 'Unprocessable', undefined],
    [{ message: 'No.', errors: ['It is locked.', 'It is gone'] }, 'No. It is locked. It is gone', undefined],
    [{ errors: [{ code: 'blank', message: 'a' }, { message: 'b' }] }, 'a; b', 'blank'],
    [{ errors: ['a', 'b', 'a'] }, 'a; b', undefined],
    [{ errors: { title: ['is blank', 'is odd'] } }, 'title: is blank; title: is odd', undefined],
    ['<html><head><title>502 Bad Gateway</title></head></html>', '502 Bad Gateway', undefined],
    [
      '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1><hr>nginx</body></html>',
      '502 Bad Gateway nginx',
      undefined,
    ],
    [
      '<!DOCTYPE html><html><head><title>Error</title><style>b {}</style></head><body><h1>The site isn&#39;t connected &amp; locked.</h1><script>go()</script></body></html>',
      "The site isn't connected & locked.",
      undefined,
    ],
    [
      '<head><title>Down for maintenance</title></head><body>We are back soon.</body>',
      'Down for maintenance; We are back soon.',
      undefined,
    ],
    ['  upstream\n  is down ', 'upstream is down', undefined],
    ['', '', undefined],
    [undefined, '', undefined],
    [null, '', undefined],
    [42, '', undefined],
    [{ status: 'error' }, '', undefined],
  ])('%j says %j', (body, message, code) => {
    expect(problemOf(body)).toEqual(code === undefined ? { message } : { code, message });
  });

  test('is never longer than 500 characters', () => {
    expect(problemOf({ message: 'x'.repeat(9000) }).message).toHaveLength(500);
    expect(problemOf('x'.repeat(9_000_000)).message).toHaveLength(500);
  });

  test('contains no secret, however the text is truncated or combined', () => {
    const url = `${'x'.repeat(470)} https://admin:hunter2hunter2hunter2@one.example/`;
    const bodies = [
      { message: 'Login failed: {"password":"hunter2hunter2"}' },
      { errors: { password: ['hunter2hunter2 is too weak'] } },
      { message: url },
      `<html><title>Error</title><p>token=hunter2hunter2</p><secret>hunter2hunter2</secret></html>`,
    ];
    for (const body of bodies) expect(problemOf(body).message).not.toContain('hunter2');
    expect(problemOf(url).message).toContain('https://admin:[hidden]');
  });

  test('is searched to a limited depth', () => {
    const body = JSON.parse(`${'{"error":'.repeat(2000)}"deep"${'}'.repeat(2000)}`);

    expect(problemOf(body)).toEqual({ message: '' });
  });

  test.each([
    [{ code: 'daily_sync_limit_reached', message: '' }, 'daily-limit'],
    [{ code: 'site_under_maintenance', message: '' }, 'maintenance'],
    [{ message: 'The daily limit of on-demand syncs is reached.' }, 'daily-limit'],
    [{ code: 'locked', message: 'This site is under maintenance.' }, 'maintenance'],
    [{ message: 'A site takes 5 on-demand syncs a day.' }, 'daily-limit'],
    [{ code: 'site_disconnected', message: '' }, 'not-eligible'],
    [{ message: 'The site is disconnected.' }, 'not-eligible'],
    [{ message: 'The site is locked.' }, 'not-eligible'],
    [{ message: 'The destination is disconnected.' }, undefined],
    [{ message: 'A sync is already running.' }, undefined],
    [{ message: 'The rate limit is exceeded.' }, undefined],
  ])('%j is understood as %s', (problem, refusal) => {
    expect(refusalOf(problem)).toBe(refusal);
  });
});
