/** The targets that a plan is limited to, when only some were requested by their ids. */
import { parentIdIn } from '../../job/candidates.ts';
import type { AnyJob } from '../../job/job.ts';
import type { Parent } from './listing.ts';
import { notEligible, type Planned } from './planning.ts';

export class Requested {
  private readonly left: Set<string>;
  /** Why the lists of these parents are unknown. */
  private readonly unread = new Map<string, string>();

  constructor(private readonly ids: readonly string[]) {
    this.left = new Set(ids);
  }

  /** Whether the target was requested, by its own id or by that of what it belongs to. */
  takes({ id }: { id: string }, parent?: Parent): boolean {
    return this.left.delete(id) || (parent !== undefined && this.ids.includes(parent.id));
  }

  /** Notes a parent whose list was read to its end. */
  noteRead({ id }: Parent): void {
    this.left.delete(id);
  }

  noteUnread(planned: Planned): void {
    if (planned.is === 'ended') this.unread.set(planned.id, planned.end.detail ?? '');
  }

  get isComplete(): boolean {
    return this.left.size === 0;
  }

  /** What became of those that were not found: every requested id is reported. */
  *rest(job: AnyJob): Generator<Planned> {
    for (const id of this.left) {
      const whyUnread = this.unread.get(parentIdIn(id) ?? id);
      const why = job.extraTargets
        ? 'It is not in the account, the policy does not select it, or the job has nothing to report about it.'
        : 'It is not in the account, or the policy does not select it.';
      if (whyUnread !== undefined) yield { is: 'ended', id, label: id, end: notEligible(whyUnread) };
      else yield { is: 'ended', id, label: id, end: notEligible(why), unselected: true };
    }
  }
}
