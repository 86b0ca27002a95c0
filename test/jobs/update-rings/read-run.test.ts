/** What a run did to its sites, from a history entry, its task and the sites as they are now. */
import { describe, expect, test } from 'vitest';
import { readRun } from '../../../jobs/update-rings/read-run.ts';

const HOUR = 3_600_000;
const at = Date.parse('2026-11-27T02:00:00Z');
const after = '2026-11-27T05:00:00.000Z';
const healthy = {
  connection: { status: 'connected' },
  security: { enabled: true, scanner: { status: 'clean' } },
  sync: { last_sync_at: after, last_sync_status: 'succeeded' },
};
const plugin = { filename: 'shop/shop.php', current_version: '9.5.2', target_version: '9.5.3' };

/** A run over `a` and `b`, read three hours later. */
async function read(status: string, ofTask: object[] | undefined, site: object = {}, wp: object = {}) {
  const ids = ['a', 'b'];
  const sites = new Map(ids.map((id) => [id, { id, ...healthy, ...(id === 'a' && site) }]));
  const api = { showTask: async () => ({ task: { id: 't', details: { sites: ofTask } } }) };
  const {
    sites: took,
    names,
    ended,
  } = await readRun(
    { api, sites, now: at + 3 * HOUR, soak: 48 * HOUR, unwell: {}, checks: [] } as never,
    {
      performed_on: '2026-11-27T02:00:00.000Z',
      task_id: 't',
      status,
      sites: ids.map((id) => ({ id, wp: { plugins: [plugin], themes: [], ...wp } })),
    } as never,
    undefined,
    { core: false, plugins: { selection: 'all', filenames: [] }, themes: null },
  );
  const how = took.map(({ id, broke, missing }) => `${id} ${broke?.kind ?? missing ?? 'well'}`);
  return {
    how,
    ended,
    items: took[0]?.took.map(({ item }) => item),
    offered: names?.('plugin other/other.php') ?? false,
  };
}

describe('what a run did', () => {
  test.each<[string, string, object[] | undefined, string[], boolean]>([
    ['a completed run', 'completed', [], ['a well', 'b well'], true],
    ['a completed run whose task is not shown', 'completed', undefined, ['a well', 'b well'], true],
    [
      'a completed run that failed at a site',
      'completed',
      [{ id: 'a', status: 'failed' }],
      ['a failed', 'b well'],
      true,
    ],
    [
      'an aborted run that did not come to a site',
      'aborted',
      [
        { id: 'a', status: 'aborted' },
        { id: 'b', status: 'initializing' },
      ],
      ['a failed'],
      false,
    ],
    [
      'a run that a person cancelled after its first site',
      'cancelled',
      [
        { id: 'a', status: 'completed' },
        { id: 'b', status: 'cancelled' },
      ],
      ['a well'],
      false,
    ],
    ['a cancelled run whose task is not shown', 'cancelled', undefined, [], false],
  ])('%s', async (_, status, task, how, offered) => {
    expect(await read(status, task)).toMatchObject({ how, offered });
  });

  test('malware without a date is evidence', async () => {
    const hacked = { security: { enabled: true, scanner: { status: 'hacked' } } };
    expect((await read('completed', [], hacked)).how).toEqual(['a hacked', 'b well']);
  });

  // The specification does not list the values of `last_sync_status`, and the service may have more of the others.
  test.each<[string, object, string]>([
    [
      'a sync that ended as "error" is broken',
      { sync: { last_sync_at: after, last_sync_status: 'error' } },
      'failed',
    ],
    [
      'a sync whose result is not shown proves nothing',
      { sync: { last_sync_at: after } },
      'the result of its sync is not shown',
    ],
    [
      'a connection with an unknown status proves nothing',
      { connection: { status: 'unreachable' } },
      'its connection is "unreachable"',
    ],
    [
      'a scanner whose result is not shown proves nothing',
      { security: { enabled: true, scanner: {} } },
      'its scanner is not shown',
    ],
    [
      'a scanner with an unknown result proves nothing',
      { security: { enabled: true, scanner: { status: 'suspicious' } } },
      'its scanner shows "suspicious"',
    ],
    [
      'malware from before them is no evidence',
      {
        security: {
          enabled: true,
          scanner: { status: 'hacked', malware_detected_at: '2026-11-26T02:00:00.000Z' },
        },
      },
      'well',
    ],
    ['a scanner that is switched off is not asked', { security: { enabled: false, scanner: {} } }, 'well'],
  ])('of a site after its updates: %s', async (_, site, how) => {
    expect((await read('completed', [], site)).how).toEqual([`a ${how}`, 'b well']);
  });

  test('is not final while its status is one that we do not know', async () => {
    const waiting = ['a', 'b'].map((id) => ({ id, status: 'queued' }));
    expect(await read('queued', waiting)).toMatchObject({ how: ['a well', 'b well'], ended: false });
  });

  test.each([
    ['6.8.3', ['plugin shop/shop.php']],
    ['6.8.4', ['core', 'plugin shop/shop.php']],
  ])('a core of 6.8.3 with the target %s: %s', async (target_version, items) => {
    const core = { current_version: '6.8.3', target_version };
    expect((await read('completed', [], {}, { core })).items).toEqual(items);
  });
});
