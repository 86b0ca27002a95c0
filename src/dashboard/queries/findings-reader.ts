/** What pages read of findings: those of policies that the reader may see. */
import type { Clock } from '../../clock.ts';
import {
  type CountedGroup,
  countAcknowledged,
  type FindingFilter,
  findingGroups,
  findingsOfSite,
  type ListedFinding,
  NEW_MS,
  RESOLVED_SHOWN_MS,
  type Sees,
} from '../../control/findings.ts';
import type { Severity } from '../../records/filter-values.ts';
import type { FindingPolicy, FindingTrend } from '../../records/open-findings-store.ts';
import type { Records } from '../../records/records.ts';
import { redact, scrubOnce } from '../../secrets.ts';

export interface FindingsReader {
  /** The groups with open findings, the most severe first, then by policy. */
  groups(filter: Pick<FindingFilter, 'severity' | 'policy' | 'account'>): Promise<CountedGroup[]>;
  /**
   * How many errors of these policies are new and not acknowledged. Costs one short script for each 20 policies with
   * findings.
   */
  countNewErrors(policies: readonly FindingPolicyName[]): Promise<number>;
  ofSite(account: string, site: string): Promise<ListedFinding[]>;
  /** Of a policy: how many were open on each of the last 30 days, and how many were resolved in seven days. */
  history(of: FindingPolicy): Promise<FindingHistory>;
  /** The same reader for a person who sees only these policies. */
  within(sees: Sees): FindingsReader;
}

/** A policy by its name, with its account. */
export interface FindingPolicyName {
  name: string;
  account: string;
}

export interface FindingHistory {
  trend: Record<Severity, FindingTrend>;
  /** At most 200 of a policy are kept. */
  resolved: Record<Severity, number>;
}

export function openFindingsReader(records: Records, clock: Clock, sees: Sees = () => true): FindingsReader {
  return {
    groups: (filter) => findingGroups(records, filter, clock.now(), sees),
    async countNewErrors(policies) {
      const active = new Set(policies.map(({ account, name }) => `${account}\n${name}`));
      const counted = (await records.openFindings.policies()).filter(
        (of) => sees(of) && active.has(`${of.account}\n${of.policy}`),
      );
      const now = clock.now();
      const groups = await records.openFindings.groups(counted, now - NEW_MS);
      const counts = await Promise.all(
        groups
          .filter((group) => group.severity === 'error' && group.new > 0)
          .map(async (group) =>
            group.hasAcknowledged
              ? group.new - (await countAcknowledged(records, group, now)).newAcknowledged
              : group.new,
          ),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },
    ofSite: async (account, site) =>
      clean(await findingsOfSite(records, account, site, { now: clock.now(), sees })),
    async history(of) {
      const now = clock.now();
      const [trend, resolved] = await Promise.all([
        records.openFindings.trend(of, now),
        records.openFindings.countResolved(of, now - RESOLVED_SHOWN_MS),
      ]);
      return { trend, resolved };
    },
    within: (other) => openFindingsReader(records, clock, (of) => sees(of) && other(of)),
  };
}

const clean = <T>(value: T): T => redact(value, scrubOnce) as T;
