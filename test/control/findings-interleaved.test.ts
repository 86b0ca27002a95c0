/** Findings are listed while runs are compared: what stays open is never missing. */
import { Redis } from 'ioredis';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { listFindings } from '../../src/control/findings.ts';
import { openRecords, type Records } from '../../src/records/records.ts';
import { findIn } from '../support/findings.ts';
import { NOON } from '../support/held-clock.ts';
import { startTestRedis } from '../support/redis.ts';

let redis: Redis;
let records: Records;
beforeEach(async () => {
  const server = await startTestRedis();
  redis = new Redis(server.options);
  records = openRecords(redis);
  onTestFinished(async () => {
    redis.disconnect();
    await server.stop();
  });
});

const find = (at: number, ...targets: string[]) =>
  findIn(records, { at, found: targets.map((target) => ({ target })) });

/** Reads all pages, with `change` before the read with this number; undefined when there are fewer reads. */
async function listedWith(number: number, change: () => Promise<unknown>): Promise<string[] | undefined> {
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
    const page = await listFindings(reader, {}, { limit: 2, after, now: NOON, sees: () => true });
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

    const listed = await listedWith(number, () => find(NOON - 1_000, ...then));

    if (listed === undefined) return expect(number).toBeGreaterThan(5);
    const stays = known.filter((one) => then.includes(one));
    expect({ number, missing: stays.filter((one) => !listed.includes(one)) }).toEqual({
      number,
      missing: [],
    });
  }
});
