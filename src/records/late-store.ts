import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import type { Late } from '../run/run.ts';
import { keys } from './keys.ts';
import { ADD_NOTICE, type Notice, noticeText } from './notice-store.ts';

const noteLate = defineScript(
  { keys: ['run', 'notices'], args: ['late', 'notice'] },
  `${ADD_NOTICE}
if redis.call('EXISTS', keys.run) == 0 then return 0 end
if redis.call('HSETNX', keys.run, 'late', args.late) == 0 then return 0 end
add_notice(keys.notices, args.notice)
return 1`,
);

/** Which runs miss their deadline: once for each run. */
export class LateStore {
  constructor(private readonly store: Store) {}

  /** False when that was recorded before, by whichever process, or the run is no longer stored. */
  async note(run: string, late: Late, notice?: Notice): Promise<boolean> {
    const noted = await noteLate(this.store, {
      keys: { run: keys.run(run), notices: keys.notices },
      args: { late: JSON.stringify(late), notice: noticeText(notice) },
    });
    return noted === 1;
  }
}
