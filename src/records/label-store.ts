/**
 * The label of each target that has worked in a run, so that it is found by a part of it.
 *
 * The script that ends a target writes its label, and the one that removes a run removes the labels of targets without
 * another run. So there is one entry for each target, whatever the number of runs.
 */
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import type { Run } from '../run/run.ts';
import { keys } from './keys.ts';

export interface Label {
  account: string;
  target: string;
  label: string;
}

/** How many are read in one command. */
const PAGE = 250;
/** How many targets forget a removed run in one script. */
const FORGOTTEN = 200;

/** `runs_of_targets`: of each target, the key of its runs; `fields`: those of the labels of the same targets. */
const forgetRun = defineScript(
  { keys: ['labels'], keyList: 'runs_of_targets', args: ['run'], argList: 'fields' },
  `
for i, runs_of_target in ipairs(runs_of_targets) do
  redis.call('ZREM', runs_of_target, args.run)
  if redis.call('EXISTS', runs_of_target) == 0 then redis.call('HDEL', keys.labels, fields[i]) end
end
return 1`,
);

/** Removes a run from the lists of its targets, and the labels of targets without another run. */
export async function forgetTargets(
  store: Store,
  { id, account }: Pick<Run, 'id' | 'account'>,
): Promise<void> {
  for (let offset = 0; ; offset += FORGOTTEN) {
    const targets = await store.lrange(keys.order(id), offset, offset + FORGOTTEN - 1);
    if (targets.length > 0) {
      await forgetRun(store, {
        keys: { labels: keys.labels },
        keyList: targets.map((target) => keys.runsOfTarget(account, target)),
        args: { run: id },
        argList: targets.map((target) => `${account}\n${target}`),
      });
    }
    if (targets.length < FORGOTTEN) return;
  }
}

export class LabelStore {
  constructor(private readonly store: Store) {}

  count(): Promise<number> {
    return this.store.hlen(keys.labels);
  }

  /** All labels, by the page; one that is written meanwhile may be missing, and one may come twice. */
  async *pages(): AsyncGenerator<Label[]> {
    let cursor = '0';
    do {
      const [next, flat] = await this.store.hscan(keys.labels, cursor, 'COUNT', PAGE);
      yield flat.flatMap((field, at) => {
        if (at % 2 === 1) return [];
        const [account = '', target = ''] = field.split('\n');
        return [{ account, target, label: flat[at + 1] ?? '' }];
      });
      cursor = next;
    } while (cursor !== '0');
  }
}
