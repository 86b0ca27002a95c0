/** The targets that a plan is limited to, when only some were requested by their ids. */
import { parentIdIn } from '../../job/candidates.ts';
import type { AnyJob } from '../../job/job.ts';
import type { Parent } from './listing.ts';
import { type EarlierPlan, notEligible, type Planned } from './planning.ts';
import type { Unlisted } from './why-unlisted.ts';

export class Requested {
  private readonly left: Set<string>;

  constructor(
    private readonly ids: readonly string[],
    earlier?: EarlierPlan,
  ) {
    this.left = new Set(ids);
    // The result of an item that was processed is planned. Without a result, its own list was read to its end.
    for (const id of [...(earlier?.planned ?? []), ...(earlier?.given ?? [])]) this.left.delete(id);
  }

  /** Whether the target was requested, by its own id or by that of what it belongs to. */
  takes({ id }: { id: string }, parent?: Parent): boolean {
    return this.left.delete(id) || (parent !== undefined && this.ids.includes(parent.id));
  }

  /** Notes a parent whose list was read to its end. */
  noteRead({ id }: Parent): void {
    this.left.delete(id);
  }

  /** What becomes of those that belong to a parent whose list was not read. */
  *unread(parent: Planned): Generator<Planned> {
    const why = parent.is === 'ended' ? parent.end.detail : undefined;
    for (const id of this.left) {
      if ((parentIdIn(id) ?? id) !== parent.id) continue;
      this.left.delete(id);
      if (why === undefined) yield notSelected(id, NOT_SELECTED);
      else yield { is: 'ended', id, label: id, end: notEligible(why) };
    }
  }

  /** Those that were not found so far. */
  get missing(): readonly string[] {
    return [...this.left];
  }

  get isComplete(): boolean {
    return this.left.size === 0;
  }

  /** The ids that were not found: every requested id is reported. */
  *rest(job: AnyJob, known: ReadonlyMap<string, Unlisted>): Generator<Planned> {
    for (const id of this.left) {
      const found = known.get(id);
      // What such a job reports need not be an item of the list.
      if (found && !(job.extraTargets && !found.isThere))
        yield { ...notSelected(id, found.why), label: found.label };
      else if (job.extraTargets) yield notSelected(id, NOTHING_TO_REPORT);
      else yield notSelected(id, NOT_SELECTED);
    }
  }
}

const NOTHING_TO_REPORT =
  'It is not in the account, the policy does not select it, or the job has nothing to report about it.';
const NOT_SELECTED = 'It is not in the account, or the policy does not select it.';

const notSelected = (id: string, why: string): Planned => ({
  is: 'ended',
  id,
  label: id,
  end: notEligible(why),
  unselected: true,
});
