/** `limits.per_client` and `limits.per_tag`: the groups that a target belongs to, and how many targets each has. */
import type { GroupLimits, Policy } from '../../policy/policy.ts';
import type { Group } from '../../records/group-places.ts';
import { labelOfParty, type Owner, type Party } from './owners.ts';

type Limits = Pick<Policy['limits'], 'perClient' | 'perTag'>;

const limitsOf = ({ perClient, perTag }: Limits, { kind }: Group): GroupLimits | undefined =>
  kind === 'client' ? perClient : perTag;

/** Whether the owners of targets have to be known. */
export const hasGroupLimits = ({ perClient, perTag }: Limits): boolean =>
  perClient !== undefined || perTag !== undefined;

/**
 * The groups of a target that have limits. Targets whose client is not shown are a group of their own, and so
 * are those whose tags are not shown. A target without a client or tags has no such limits.
 */
export function groupsOf({ perClient, perTag }: Limits, { client, tags }: Owner): Group[] {
  return [
    ...(perClient ? groupsOfKind('client', client === null ? [] : client && [client]) : []),
    ...(perTag ? groupsOfKind('tag', tags) : []),
  ];
}

function groupsOfKind(kind: Group['kind'], parties: readonly Party[] | undefined): Group[] {
  if (parties === undefined) return [{ kind, id: '', label: `an unknown ${kind}` }];
  return parties.map((party) => ({
    kind,
    // The id is a part of a key, whose parts are separated by line breaks.
    id: party.id.replace(/\n/g, ' '),
    label: `the ${kind} "${labelOfParty(party)}"`,
  }));
}

/** Those of the groups of which only this many targets may be in flight. */
export const withPlaces = (limits: Limits, groups: readonly Group[]): Group[] =>
  groups.filter((group) => limitsOf(limits, group)?.concurrency !== undefined);

/** Counts the targets of a plan by client and tag, as far as their number is limited. */
export class GroupCounts {
  private readonly counts: Map<string, number>;
  private changed = new Set<string>();

  constructor(
    private readonly limits: Limits,
    earlier: Iterable<readonly [group: string, count: number]> = [],
  ) {
    this.counts = new Map(earlier);
  }

  /** The counts that have changed since the last call. */
  changes(): [group: string, count: number][] {
    const { changed } = this;
    this.changed = new Set();
    return [...changed].map((group) => [group, this.counts.get(group) ?? 0]);
  }

  /** Counts a target; gives the message when one of its groups has too many now. */
  add(groups: readonly Group[] = []): string | undefined {
    for (const group of groups) {
      const most = limitsOf(this.limits, group)?.maxTargets;
      if (most === undefined) continue;
      const key = `${group.kind} ${group.id}`;
      const count = (this.counts.get(key) ?? 0) + 1;
      this.counts.set(key, count);
      this.changed.add(key);
      if (count > most)
        return `The plan has more than ${most} targets with ${group.label} (limits.per_${group.kind}.max_targets).`;
    }
    return undefined;
  }
}
