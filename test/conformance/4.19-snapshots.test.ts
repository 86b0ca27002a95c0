/** Section 4.19. */
import { expect } from 'vitest';
import { casesOfFile, DAY, type Tools } from './harness.ts';
import { listCases, moment } from './list-cases.ts';

const { conform, conformHeld } = casesOfFile('4.19 Snapshots');
const backedUp = ({ need }: Tools) =>
  need(
    '/sites?filters[backups:eq]=true&filters[connection_status:eq]=connected&filters[paused:eq]=false',
    ({ backups }) => backups.available_snapshots > 9,
  );
const path = async (tools: Tools) => `/sites/${(await backedUp(tools)).id}/snapshots`;

/** Without its own filters on created_at, which move the window: they have cases of their own. */
listCases(conform, {
  path,
  key: 'snapshots',
  filters: {
    created_at: moment,
    status: {
      operators: ['eq'],
      wrong: 'lost',
      try: ['succeeded', 'failed', 'in_progress', 'waiting'],
    },
    scanner_status: {
      operators: ['eq'],
      read: ({ security }) => security.scanner.status,
      wrong: 'dirty',
      try: ['clean', 'hacked'],
    },
    note: { operators: ['present'], wrong: 'maybe' },
  },
  sorts: ['created_at'],
  defaultSort: 'created_at,desc',
  timezone: false,
});

const momentsOf = async ({ call }: Tools, query: string): Promise<number[]> => {
  const { status, body } = await call('GET', query);
  expect([query, status]).toEqual([query, 200]);
  return body.snapshots.map(({ created_at }: { created_at: string }) => Date.parse(created_at));
};

conformHeld('the list covers seven days, each side of the window on its own', async (tools) => {
  const list = await path(tools);
  const now = Date.parse('2026-11-21T12:00:00Z');
  const ago = (days: number) => new Date(now - days * DAY).toISOString();
  const all = await momentsOf(tools, `${list}?filters[created_at:gte]=${ago(100)}`);
  const between = (from: number, until: number) =>
    all.filter((at) => at >= now - from * DAY && at <= now - until * DAY);
  expect(all.length).toBeGreaterThan(between(7, 0).length);
  expect(await momentsOf(tools, list)).toEqual(between(7, 0));
  expect(await momentsOf(tools, `${list}?filters[created_at:gte]=${ago(9)}`)).toEqual(between(9, 0));
  expect(await momentsOf(tools, `${list}?filters[created_at:lte]=${ago(2)}`)).toEqual(between(7, 2));
  expect(await momentsOf(tools, `${list}?filters[created_at:lte]=${ago(8)}`)).toEqual([]);
  const both = `filters[created_at:gte]=${ago(9)}&filters[created_at:lte]=${ago(7.5)}`;
  expect(await momentsOf(tools, `${list}?${both}`)).toEqual(between(9, 7.5));
});

conformHeld('note:present tells notes from none', async (tools) => {
  const { call } = tools;
  const list = await path(tools);
  await call('POST', list.replace('snapshots', 'sync'), { sync: { message: 'Before a move' } });
  for (const present of [true, false]) {
    const { snapshots } = (await call('GET', `${list}?filters[note:present]=${present}`)).body;
    expect(snapshots.length).toBeGreaterThan(0);
    for (const { note } of snapshots) expect(note !== null).toBe(present);
  }
});

conform('the list sorts by files_synced and tables_synced', async (tools) => {
  const list = `${await path(tools)}?filters[created_at:gte]=2000-01-01T00:00:00Z`;
  for (const [field, part] of [
    ['files_synced', 'files'],
    ['tables_synced', 'database'],
  ] as const) {
    for (const direction of ['asc', 'desc']) {
      const { snapshots } = (await tools.call('GET', `${list}&sort=${field},${direction}`)).body;
      const counts: number[] = snapshots.map(
        (one: { backups: Record<string, { count: { synced: number } }> }) => {
          return one.backups[part]?.count.synced;
        },
      );
      const sorted = counts.toSorted((left, right) => (direction === 'asc' ? left - right : right - left));
      expect(counts).toEqual(sorted);
    }
  }
});

conform('the single view adds scan counts and measurements', async (tools) => {
  const list = await path(tools);
  const listed = await tools.need(`${list}?filters[status:eq]=succeeded`);
  const { status, body } = await tools.call('GET', `${list}/${listed.id}`);
  expect(status).toBe(200);
  expect(body.snapshot).toMatchObject(listed);
  expect(Object.keys(listed.performance)).toEqual(['enabled']);
  expect(Object.keys(body.snapshot.performance)).toEqual([
    'enabled',
    'score',
    'load_time',
    'page_size',
    'total_requests',
  ]);
  expect(listed.security.scanner).not.toHaveProperty('files');
  expect(body.snapshot.security.scanner).toHaveProperty('database.total');
});

conform('both need a site that supports backups, and has them enabled', async ({ call, need }) => {
  await need('/sites?filters[backups:eq]=false');
  for (const { id } of (await call('GET', '/sites?filters[backups:eq]=false')).body.sites) {
    expect((await call('GET', `/sites/${id}/snapshots`)).status).toBe(422);
    expect((await call('GET', `/sites/${id}/snapshots/any-one`)).status).toBe(422);
  }
});

conform('unknown snapshots answer 404', async (tools) => {
  expect((await tools.call('GET', `${await path(tools)}/unknown-one`)).status).toBe(404);
});

conform(
  '2.21 Snapshots: measurements are null where performance is not monitored',
  async ({ call, need }) => {
    const silent = '/sites?filters[performance:eq]=false&filters[backups:eq]=true';
    const { id } = await need(silent, ({ backups }) => backups.latest_snapshot?.status === 'succeeded');
    const { snapshots } = (await call('GET', `/sites/${id}/snapshots?filters[created_at:gte]=2000-01-01`))
      .body;
    expect(snapshots[0].performance).toEqual({ enabled: false });
    const { performance } = (await call('GET', `/sites/${id}/snapshots/${snapshots[0].id}`)).body.snapshot;
    expect(performance).toEqual({
      enabled: false,
      score: null,
      load_time: null,
      page_size: null,
      total_requests: null,
    });
  },
);
