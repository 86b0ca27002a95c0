import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import type { Late } from '../run/run.ts';
import { keys } from './keys.ts';

const noteLate = defineScript(
  { keys: ['run'], args: ['late'] },
  `
if redis.call('EXISTS', keys.run) == 0 then return 0 end
return redis.call('HSETNX', keys.run, 'late', args.late)`,
);

/** Which runs miss their deadline: once for each run. */
export class LateStore {
  constructor(private readonly store: Store) {}

  /** False when that was recorded before, by whichever process, or the run is no longer stored. */
  async note(run: string, late: Late): Promise<boolean> {
    const noted = await noteLate(this.store, {
      keys: { run: keys.run(run) },
      args: { late: JSON.stringify(late) },
    });
    return noted === 1;
  }
}
