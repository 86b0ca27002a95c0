/** That a prefix holds, on whatever kind of Redis. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { restoreBackup, takeBackup } from '../../src/app/backup.ts';
import { connectRecords } from '../../src/app/open-records.ts';
import { openQueues } from '../../src/queue/queues.ts';
import type { RedisSettings } from '../../src/redis/connect.ts';
import { keptLog } from '../support/quiet.ts';

const audit = { keptMs: 86_400_000 };
const by = { who: { kind: 'local', name: 'ops' }, from: 'cli@here' } as const;

/** Writes records, an event and entries of queues with a prefix; backs them up, and restores them with another prefix. */
export async function expectPrefixHolds(redis: RedisSettings, allKeys: () => Promise<string[]>) {
  const log = keptLog();
  const folder = mkdtempSync(join(tmpdir(), 'caretaker-prefix-'));
  const settings = (prefix: string) => ({ redis: { ...redis, prefix }, dataDir: folder, audit });
  const staging = await connectRecords(settings('staging'), log);
  const { records, clock } = staging;
  const queues = openQueues(staging.redis.store, log);
  try {
    let hear = () => {};
    const heard = new Promise<void>((resolve) => {
      hear = resolve;
    });
    const stop = await records.listen(() => hear());
    await records.policies.pause('nightly', { at: clock.now(), by: 'ops' });
    await heard;
    await stop();
    await queues.put([{ kind: 'plan', run: 'nightly.1' }]);
    expect((await queues.counts())['plans']).toEqual({ waiting: 1, active: 0 });
    const file = join(folder, 'records.gz');
    await takeBackup(file, staging, by);
    await restoreBackup(file, settings('copy'), { replace: false, by, log });

    const all = await allKeys();
    expect(all.filter((key) => !/^(staging|copy):\{caretaker\}:/.test(key))).toEqual([]);
    expect(all.some((key) => key.startsWith('staging:{caretaker}:queue:plans'))).toBe(true);
    const copy = await connectRecords(settings('copy'), log);
    expect((await copy.records.policies.state('nightly')).pause).toMatchObject({ by: 'ops' });
    await copy.close();
  } finally {
    await queues.close();
    await staging.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
