import { type CountedGroup, newUnacknowledged, unacknowledged } from '../../control/findings.ts';
import { countOf } from '../../text.ts';
import { AttentionRow } from '../components/attention-row.tsx';
import { pathWith } from '../components/filter-bar.tsx';
import { Icon } from '../components/icon.tsx';
import { policyPath } from '../components/paths.ts';
import { number } from '../components/progress.tsx';
import type { Item } from '../queries/attention.ts';

/** The open findings of a policy with one severity, in the overview's list of what needs a person. */
export const FindingsRow = ({
  item: { group },
  now,
}: {
  item: Extract<Item, { is: 'findings' }>;
  now: number;
}) => {
  const { policy, severity, since } = group;
  const open = unacknowledged(group);
  const path = findingsPath(group);
  return (
    <AttentionRow
      name={`findings ${severity} ${policy} ${group.account}`}
      what={
        <a class={`badge is-${severity}`} href={path}>
          <Icon name={severity === 'error' ? 'circle-x' : 'triangle-alert'} />
          {countOf(open, severity)}
        </a>
      }
      policy={<a href={policyPath(policy)}>{policy}</a>}
      whole={policy}
      why={<span class="dim">{findingsLine(group)}</span>}
      wholeWhy={findingsLine(group)}
      since={since}
      action={
        <a class="action" href={path}>
          Look
          <span class="unseen">
            {' '}
            at {policy}: {countOf(open, severity)}
          </span>
        </a>
      }
      now={now}
    />
  );
};

export const findingsPath = ({ policy, account, severity }: CountedGroup): string =>
  pathWith('/findings', { policy, account, severity });

function findingsLine(group: CountedGroup): string {
  const [open, fresh] = [unacknowledged(group), newUnacknowledged(group)];
  return fresh === 0
    ? `${number(open)} open, none of them new`
    : `${number(open)} open, ${number(fresh)} of them new in the last 24 hours`;
}
