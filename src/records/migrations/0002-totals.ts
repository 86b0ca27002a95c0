/**
 * Version 2: the totals of each hour (`totals-store.ts`) count every run.
 *
 * Older records lack the totals of the runs that ended before there were any; they are added here for the
 * hours that are still shown. A run that is counted carries a mark, so none is counted twice.
 */
import { runScript } from '../../redis/script.ts';
import { ADD_TO_TOTALS, KEPT_MS } from '../totals-store.ts';
import type { Migration } from './migration.ts';

const PREFIX = '{caretaker}';
const HOUR_MS = 3_600_000;
/** Runs that are looked at together. */
const PAGE = 500;

/** KEYS: run, its reasons, the hour. ARGV: id. */
const ADD = `${ADD_TO_TOTALS}
if redis.call('HEXISTS', KEYS[1], 'finishedAt') == 1 then add_to_totals(KEYS[1], KEYS[2], KEYS[3], ARGV[1]) end`;

export const totals: Migration = {
  summary: 'the runs of the last day are counted by hour',
  async run({ store, now }) {
    // From the newest on: runs that begin meanwhile, and old ones that are pruned, hide none from us.
    for (let offset = 0; ; offset += PAGE) {
      const ids = await store.zrange(`${PREFIX}:runs`, String(offset), String(offset + PAGE - 1), 'REV');
      const ends = await Promise.all(ids.map((id) => store.hget(`${PREFIX}:run:${id}`, 'finishedAt')));
      const ended = ids.flatMap((id, index) => {
        const at = Number(ends[index] ?? 0);
        return at < now - KEPT_MS ? [] : { id, hour: Math.floor(at / HOUR_MS) * HOUR_MS };
      });
      await Promise.all(
        ended.map(({ id, hour }) => {
          const run = `${PREFIX}:run:${id}`;
          return runScript(store, ADD, [run, `${run}:reasons`, `${PREFIX}:totals:${hour}`], [id]);
        }),
      );
      if (ids.length < PAGE) break;
    }
    // It noted that this had been done, before the records had a version.
    await store.unlink(`${PREFIX}:totals`);
  },
};
