/** The parts that decide, in tables: who is in which ring, what evidence means, and which native schedule follows. */
import { describe, expect, test } from 'vitest';
import { assign } from '../../../jobs/update-rings/assign.ts';
import { decide } from '../../../jobs/update-rings/decide.ts';
import type { Ring, RingRun, Rules, RunSite } from '../../../jobs/update-rings/evidence.ts';
import { atLeast } from '../../../jobs/update-rings/evidence.ts';
import { desiredOf, differences, nextAt, notShown } from '../../../jobs/update-rings/native.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

// Published tables of the cumulative binomial distribution (such as Abramowitz and Stegun 26.5.24), to four places.
test.each([
  [1, 5, 0.05, 0.2262],
  [2, 5, 0.05, 0.0226],
  [1, 10, 0.01, 0.0956],
  [2, 10, 0.01, 0.0043],
  [3, 10, 0.1, 0.0702],
  [6, 10, 0.5, 0.377],
  [5, 20, 0.1, 0.0432],
  [10, 20, 0.5, 0.5881],
  [0, 20, 0.5, 1],
  [21, 20, 0.5, 0],
  [1, 1, 0, 0],
])('at least %i of %i with the probability %f: %f', (k, n, p, expected) => {
  expect(atLeast(k, n, p)).toBeCloseTo(expected, 4);
});

describe('who is in which ring', () => {
  const sites = Array.from({ length: 1_000 }, (_, i) => ({ id: `site-${i}`, canary: i % 50 === 0 }));
  const rules = [
    { name: 'canary', holds: (site: object) => (site as { canary: boolean }).canary },
    { name: 'early', percent: 20 },
    { name: 'rest' },
  ];

  test('each site is in one ring, and a condition comes before a share', () => {
    const [canary = [], early = [], rest = []] = assign(rules, sites);
    expect(canary).toHaveLength(20);
    expect(early.length).toBeGreaterThan(150);
    expect(early.length).toBeLessThan(250);
    expect(new Set([...canary, ...early, ...rest].map(({ id }) => id)).size).toBe(1_000);
    expect(canary.length + early.length + rest.length).toBe(1_000);
  });

  test('a new site moves no other one, and a larger share only adds sites', () => {
    const ids = (rings: { id: string }[][]) => rings[1]?.map(({ id }) => id) ?? [];
    const before = ids(assign(rules, sites));
    const more = ids(assign(rules, [...sites, { id: 'new', canary: false }]));
    const larger = ids(assign([rules[0] as never, { name: 'early', percent: 40 }, { name: 'rest' }], sites));
    expect(more.filter((id) => id !== 'new')).toEqual(before);
    expect(larger).toEqual(expect.arrayContaining(before));
  });
});

const rules: Rules = {
  soak: 48 * HOUR,
  minSites: 2,
  most: { failed: 0, disconnected: 0, hacked: 0, found: 0 },
  usual: 0.01,
  chance: 0.005,
  released: new Set(),
};
const wanted = { core: true, plugins: true, themes: true, except: ['never/never.php'] };
const bad = { hold: true, quarantine: true, retry: 7 * DAY };
const shop = { item: 'plugin shop/shop.php', version: '9.5.3' };
const form = { item: 'plugin form/form.php', version: '5.1' };
const site = (id: string, changes: Partial<RunSite> = {}): RunSite => ({ id, took: [shop], ...changes });
const broke = { kind: 'disconnected', why: 'it is disconnected' } as const;
const run = (at: number, sites: RunSite[], ended = true): RingRun => ({ at, sites, ended });
/** A run that none of the sites needed. */
const runOf = (at: number, ...items: string[]): RingRun => ({
  ...run(at, []),
  names: (item) => items.includes(item),
});
const ringsOf = (...runs: RingRun[][]): Ring[] =>
  runs.map((one, i) => ({ name: ['canary', 'early', 'rest'][i] ?? '', runs: one }));
const decided = (rings: Ring[], now: number, changes: Partial<Rules> = {}) =>
  decide(rings, wanted, { ...rules, ...changes }, bad, now);

describe('what the evidence leads to', () => {
  const two = [site('a'), site('b')];
  test.each<[string, Ring[], number, string, RegExp, Partial<Rules>?]>([
    ['nothing has run', ringsOf([], []), 0, 'wait', /canary has not updated anything yet/],
    ['it soaks', ringsOf([run(0, two)], []), 47 * HOUR, 'wait', /it soaks at 2 sites until 1970-01-03/],
    ['it has soaked', ringsOf([run(0, two)], []), 48 * HOUR, 'promote', /^$/],
    [
      'the run is in progress',
      ringsOf([run(0, two, false)], []),
      3 * DAY,
      'wait',
      /a run of canary is in progress/,
    ],
    [
      'too few sites took it',
      ringsOf([run(0, [site('a')])], []),
      3 * DAY,
      'wait',
      /only 1 of at least 2 sites/,
    ],
    [
      'evidence is missing',
      ringsOf([run(0, [site('a'), site('b', { missing: 'it has not synced since the update' })])], []),
      3 * DAY,
      'wait',
      /1 site lack evidence, the first b: it has not synced/,
    ],
    [
      'one site of many broke',
      ringsOf(
        [run(0, [site('a', { broke }), ...two.slice(1), ...['c', 'd', 'e'].map((id) => site(id))])],
        [],
      ),
      3 * DAY,
      'hold',
      /1 site of 5 broke: a: it is disconnected/,
    ],
    [
      'one may break',
      ringsOf([run(0, [site('a', { broke }), site('b')])], []),
      3 * DAY,
      'promote',
      /^$/,
      { most: { failed: 0, disconnected: 1, hacked: 0, found: 0 } },
    ],
    [
      'a person released it',
      ringsOf([run(0, [site('a', { broke }), site('b', { broke })])], []),
      HOUR,
      'promote',
      /^$/,
      { released: new Set([`${shop.item} ${shop.version}`]) },
    ],
    [
      'a failed update succeeded the next night',
      ringsOf(
        [
          run(0, [site('a', { broke: { kind: 'failed', why: 'it failed' } }), site('b')]),
          run(DAY, [site('a')]),
        ],
        [],
      ),
      4 * DAY,
      'promote',
      /^$/,
    ],
    ['it was offered already', ringsOf([run(0, two)], [run(3 * DAY, [site('c')])]), 4 * DAY, 'wait', /^$/],
  ])('%s', (_, rings, now, is, why, changes) => {
    const { rings: all } = decided(rings, now, changes);
    expect(all[1]?.is).toBe(is);
    expect(all[1]?.why.join(' ')).toMatch(why);
    expect(all[0]?.is).toBe('run');
  });

  test('a later ring gets what was proven before it, without what is excepted', () => {
    const took = [shop, { item: 'plugin never/never.php', version: '1' }, { item: 'theme t', version: '2' }];
    const rings = ringsOf(
      [
        run(
          0,
          ['a', 'b'].map((id) => site(id, { took })),
        ),
      ],
      [],
    );
    expect(decided(rings, 2 * DAY).rings[1]?.updates).toEqual({
      core: false,
      plugins: { selection: 'specific', filenames: ['shop/shop.php'] },
      themes: { selection: 'specific', filenames: ['t'] },
    });
  });

  test('a version that a later ring did not need passes it with its next run', () => {
    const rings = (early: RingRun[]) => ringsOf([run(0, two)], early, []);
    expect(decided(rings([]), 3 * DAY).rings[2]?.is).toBe('wait');
    // It did not name it, or was cancelled.
    expect(decided(rings([run(3 * DAY, [])]), 3 * DAY).rings[2]?.is).toBe('wait');
    expect(decided(rings([runOf(3 * DAY, shop.item)]), 3 * DAY).rings[2]?.is).toBe('promote');
  });

  test('what is proven after the next ring ran with other versions is offered to it, and to no ring before', () => {
    const took = [site('a', { took: [shop, form], broke }), site('b', { took: [shop, form] })];
    const other = {
      ...run(3 * DAY, [site('c', { took: [form] })]),
      names: (item: string) => item === form.item,
    };
    const released = new Set([`${shop.item} ${shop.version}`, `${form.item} ${form.version}`]);
    const [, early, rest] = decided(ringsOf([run(0, took)], [other], []), 4 * DAY, { released }).rings;
    expect(early).toMatchObject({ is: 'promote', updates: { plugins: { filenames: ['shop/shop.php'] } } });
    expect(rest?.updates?.plugins?.filenames).toEqual(['form/form.php']);
  });

  test('an unproven version that a later ring got soaks there', () => {
    const newer = { took: [{ ...shop, version: '9.5.4' }] };
    const rings = ringsOf([run(0, two)], [run(3 * DAY, [site('c', newer), site('d', newer)])], []);
    expect(decided(rings, 4 * DAY).rings[2]?.why).toEqual([expect.stringMatching(/9.5.4 waits: it soaks/)]);
    expect(decided(rings, 5 * DAY).rings[2]?.is).toBe('promote');
  });
});

describe('suspect versions', () => {
  const both = { took: [shop, form] };
  const some = ['a', 'b', 'c'].map((id) => site(id, { ...both, broke }));
  const well = ['d', 'e', 'f', 'g'].map((id) => site(id, { took: [form] }));

  test('the version that explains the broken sites is left out, and the others go on', () => {
    const { rings, suspects } = decided(ringsOf([run(0, [...some, ...well])], []), 2 * DAY);
    expect(suspects).toMatchObject([{ ...shop, taken: 3 }]);
    expect(suspects[0]?.chance).toBeCloseTo(1e-6, 9);
    expect(rings[0]?.updates?.plugins).toEqual({ selection: 'specific', filenames: ['form/form.php'] });
    expect(rings[1]).toMatchObject({ is: 'promote', updates: { plugins: { filenames: ['form/form.php'] } } });
  });

  test('after a time the first ring takes everything again, which shows newer versions', () => {
    const { rings } = decided(ringsOf([run(0, [...some, ...well])], []), 8 * DAY);
    expect(rings[0]?.updates?.plugins?.selection).toBe('all');
    expect(rings[1]?.updates?.plugins?.filenames).toEqual(['form/form.php']);
  });

  test('versions that the same sites took cannot be told apart: nothing is promoted, nothing is left out', () => {
    const { rings, suspects } = decided(ringsOf([run(0, some)], []), 2 * DAY);
    expect(suspects).toEqual([]);
    expect(rings[1]).toMatchObject({
      is: 'hold',
      why: [expect.stringMatching(/shop/), expect.stringMatching(/form/)],
    });
  });

  test('a newer version returns it to every ring', () => {
    const newer = ['d', 'e'].map((id) => site(id, { took: [{ ...shop, version: '9.5.4' }] }));
    const { rings, suspects } = decided(ringsOf([run(0, [...some, ...well]), run(DAY, newer)], []), 4 * DAY);
    expect(rings[1]).toMatchObject({
      is: 'promote',
      updates: { plugins: { filenames: ['form/form.php', 'shop/shop.php'] } },
    });
    expect(rings[0]?.updates?.plugins?.selection).toBe('all');
    expect(suspects).toEqual([]);
  });

  test.each([
    ['9.4.9', 'plugins: form'],
    ['9.5.3-beta2', 'plugins: form'],
    ['9.10.0', 'plugins: all'],
  ])('%s, which sites took after the suspect 9.5.3: %s', (version, expected) => {
    const other = ['d', 'e'].map((id) => site(id, { took: [{ ...shop, version }] }));
    const { rings } = decided(ringsOf([run(0, [...some, ...well]), run(DAY, other)], []), 4 * DAY);
    const { selection, filenames = [] } = rings[0]?.updates?.plugins ?? {};
    expect(`plugins: ${selection === 'all' ? 'all' : filenames.map((one) => one.split('/')[0])}`).toBe(
      expected,
    );
    expect(rings[1]?.updates?.plugins?.filenames.includes('shop/shop.php')).toBe(expected === 'plugins: all');
  });

  test('an older version that other sites take in the same night does not hide a doubt about the newest', () => {
    const older = ['d', 'e'].map((id) => site(id, { took: [{ ...shop, version: '9.4.9' }] }));
    const newest = [site('a', { broke }), site('b'), site('c'), site('f')];
    for (const sites of [
      [...older, ...newest],
      [...newest, ...older],
    ])
      expect(decided(ringsOf([run(0, sites)], []), 3 * DAY).rings[1]?.is).toBe('hold');
    const olderBroke = older.map((one) => ({ ...one, broke }));
    expect(
      decided(ringsOf([run(0, [...olderBroke, site('b'), site('c')])], []), 3 * DAY).suspects,
    ).toMatchObject([{ version: '9.4.9' }]);
  });

  test('two versions that broke as many sites, but others, are both left out', () => {
    const others = ['d', 'e', 'f'].map((id) => site(id, { took: [form], broke }));
    const shops = ['a', 'b', 'c'].map((id) => site(id, { broke }));
    const { suspects } = decided(ringsOf([run(0, [...shops, ...others])], []), 2 * DAY);
    expect(suspects.map(({ item }) => item).sort()).toEqual([form.item, shop.item]);
  });
});

describe('the native schedule of a ring', () => {
  const native = {
    schedule: 'daily',
    at: '00:00',
    apart: 2 * HOUR,
    backup: true,
    visual_regression: false,
  } as const;
  const now = Date.parse('2026-11-27T12:00:00Z');
  const paused = desiredOf(
    { name: 'early', sites: ['b', 'a'], index: 1 },
    { is: 'wait', why: [] },
    'safe',
    native,
  );
  const shown = {
    id: 'schedule-1',
    name: 'safe: early [caretaker safe/early]',
    status: 'paused',
    schedule: 'daily',
    next_update_at: '2026-11-28T01:00:00Z',
    scope: {
      sites: { selection: 'specific', ids: ['a', 'b'] },
      updates: { wordpress_core: false, plugins: null, themes: null },
    },
    options: { backup: true, visual_regression: false },
  } as const;
  const found = (desired: typeof paused, changes: object) =>
    differences(desired, { ...shown, ...changes } as never, 'Europe/Berlin', now).map(
      ({ field, from, to }) => `${field}: ${from} -> ${to}`,
    );

  test('what is as it should be needs no change', () => expect(found(paused, {})).toEqual([]));

  test('each field that differs is named', () => {
    const promoted = desiredOf(
      { name: 'early', sites: ['a', 'c'], index: 1 },
      {
        is: 'promote',
        updates: { core: false, plugins: { selection: 'specific', filenames: ['x'] }, themes: null },
        why: [],
      },
      'safe',
      native,
    );
    expect(found(promoted, { name: 'Mine', next_update_at: '2027-11-28T01:00:00Z' })).toEqual([
      'name: Mine -> safe: early [caretaker safe/early]',
      'sites: 2 -> 2 (+c -b)',
      'updates: nothing -> x',
      'starts: 2027-11-28T01:00:00Z -> 2026-11-28T01:00:00.000Z',
      'status: paused -> active',
    ]);
  });

  const running = desiredOf(
    { name: 'early', sites: ['a', 'b'], index: 1 },
    { is: 'run', why: [] },
    'safe',
    native,
  );

  test('the start is the next local time, also where clocks change', () => {
    const at = (time: string) => new Date(nextAt('02:30', 'Europe/Berlin', Date.parse(time))).toISOString();
    expect(at('2026-11-27T12:00:00Z')).toBe('2026-11-28T01:30:00.000Z');
    expect(at('2027-03-27T12:00:00Z')).toMatch(/^2027-03-28T01:/);
  });

  test('on a day without that time of day, the start that was set is right', () => {
    const before = Date.parse('2027-03-27T12:00:00Z');
    const next_update_at = new Date(nextAt('02:00', 'Europe/Berlin', before)).toISOString();
    const active = { ...shown, status: 'active', next_update_at };
    expect(differences(running, active as never, 'Europe/Berlin', before)).toEqual([]);
  });

  test('of a paused schedule the start counts, since its next run is computed when it is enabled', () => {
    const set = { started_at: '2026-11-28T01:00:00Z', next_update_at: undefined };
    expect(found(running, set)).toEqual(['status: paused -> active']);
    expect(notShown({ ...shown, ...set } as never)).toEqual([]);
  });
});
