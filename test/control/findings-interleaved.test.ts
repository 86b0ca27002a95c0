/** Findings are listed while runs are compared: what stays open is never missing. */
import { expect, test } from 'vitest';
import { type FindingFilter, listFindings } from '../../src/control/findings.ts';
import { fieldOf } from '../../src/records/finding-indexes.ts';
import type { SeenFinding } from '../../src/records/findings-store.ts';
import { openRecords } from '../../src/records/records.ts';
import { findIn } from '../support/findings.ts';
import { NOON } from '../support/held-clock.ts';
import { redisOfFile } from '../support/redis-of-file.ts';

const { redis } = await redisOfFile();
const records = openRecords(redis);

const find = (at: number, ...found: (string | Partial<SeenFinding>)[]) =>
  findIn(records, { at, found: found.map((one) => (typeof one === 'string' ? { target: one } : one)) });

/** Reads all pages, with `change` before the read with this number; undefined when there are fewer reads. */
async function listedWith(
  number: number,
  change: () => Promise<unknown>,
  { limit, ...filter }: FindingFilter & { limit: number },
): Promise<string[] | undefined> {
  let reads = 0;
  const openFindings = new Proxy(records.openFindings, {
    get: (store, name) => {
      const real = Reflect.get(store, name) as (...args: unknown[]) => unknown;
      return async (...args: unknown[]) => {
        reads += 1;
        if (reads === number) await change();
        return real.apply(store, args);
      };
    },
  });
  const listed: string[] = [];
  for (let after: string | undefined, first = true; first || after !== undefined; first = false) {
    const reader = { openFindings, acknowledgements: records.acknowledgements };
    const page = await listFindings(reader, filter, { limit, after, now: NOON, sees: () => true });
    listed.push(...page.findings.map(({ target }) => target));
    after = page.next;
  }
  return reads < number ? undefined : listed;
}

const known = ['e', 'd', 'c', 'b', 'a'];

test.each([
  ['another is new', ['new', ...known]],
  ['another is resolved', known.slice(1)],
  ['others are new and resolved', ['new', 'newer', ...known.slice(2)]],
])('when %s at any moment of the reading, each that stays is listed', async (_what, then) => {
  for (let number = 1; ; number += 1) {
    await redis.flushall();
    for (const at of known.keys()) await find(NOON - 600_000 + at, ...known.slice(-at - 1));

    const listed = await listedWith(number, () => find(NOON - 1_000, ...then), { limit: 2 });

    if (listed === undefined) return expect(number).toBeGreaterThan(5);
    const stays = known.filter((one) => then.includes(one));
    expect({ number, missing: stays.filter((one) => !listed.includes(one)) }).toEqual({
      number,
      missing: [],
    });
  }
});

test.each([
  { what: 'more', from: 'warning', to: 'error', part: { limit: 10 } },
  { what: 'less', from: 'error', to: 'info', part: { limit: 10 } },
  // The three that are acknowledged are not on this page, so more than its first ones are read.
  { what: 'more', from: 'warning', to: 'error', part: { limit: 2, state: 'open' } },
  { what: 'less', from: 'error', to: 'info', part: { limit: 2, state: 'open' } },
] as const)(
  'a finding that becomes $what severe while a page is read is on it once: $part',
  async ({ from, to, part }) => {
    const others = ['a', 'b', 'c'].map((target) => ({ target, severity: 'warning' as const }));
    const of = { account: 'default', policy: 'stale-backups' };
    for (let number = 1; ; number += 1) {
      await redis.flushall();
      await find(NOON - 3 * 86_400_000, { target: 'moves', severity: from });
      await find(NOON - 2 * 86_400_000, ...others, { target: 'moves', severity: from });
      const fields = others.map(({ target }) => fieldOf({ target, about: 'backup' }));
      const findings = await records.openFindings.some(of, fields);
      await records.acknowledgements.add(of, findings, { at: 0, by: 'ana', reason: 'known' }, new Map());

      const change = () => find(NOON - 1_000, ...others, { target: 'moves', severity: to });
      const listed = await listedWith(number, change, part);

      if (listed === undefined) return expect(number).toBeGreaterThan(2);
      expect({ number, moves: listed.filter((one) => one === 'moves') }).toEqual({
        number,
        moves: ['moves'],
      });
    }
  },
);
