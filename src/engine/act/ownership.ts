/** What a target owns for its job: effects in the account, and keys of things that only one target may do. */
import type { OperationId } from '../../contract/operations.ts';
import type { Effects, Holder, Once } from '../../job/job.ts';
import type { KeyHolder } from '../../records/once-store.ts';
import type { Run, Target } from '../../run/run.ts';
import type { EngineDeps } from '../deps.ts';

type RunOf = Pick<Run, 'id' | 'account'>;

/** The owners of effects, as the job of a target sees them. */
export function effectsOf(
  { records, clock }: EngineDeps,
  { id: run, account }: RunOf,
  { id: target, intent }: Target,
): Effects {
  const own = (what: 'claim' | 'belongsToOther') => (operation: OperationId, id: string) => {
    const now = clock.now();
    return records.effects[what](account, { operation, id }, { run, target }, now, intent?.at ?? now);
  };
  return { claim: own('claim'), belongsToOther: own('belongsToOther') };
}

/** The holders of keys, as the job of a target sees them. */
export function onceOf({ records, clock }: EngineDeps, run: RunOf, target: Pick<Target, 'id'>): Once {
  const { account } = run;
  const owner = { run: run.id, target: target.id };
  const asHolder = async (held: KeyHolder): Promise<Holder> => {
    if (held.run === owner.run && held.target === owner.target) return { ...held, isOurs: true };
    const holder = await records.targets.get(held.run, held.target);
    if (holder?.state === 'ended')
      return { ...held, isOurs: false, endedAt: holder.finishedAt, reason: holder.reason };
    // A run that was removed, with its targets, ended long ago.
    return { ...held, isOurs: false, ...(holder ? {} : { endedAt: held.at }) };
  };
  return {
    claim: async (key, instead) =>
      asHolder(await records.once.claim(account, key, owner, clock.now(), instead)),
    holder: async (key) => {
      const held = await records.once.holder(account, key);
      return held && asHolder(held);
    },
    note: (key, result) => records.once.note(account, key, owner, result),
    results: (names) => records.once.results(account, names),
  };
}
