import { type CountedGroup, newUnacknowledged, unacknowledged } from '../../control/findings.ts';
import { countOf } from '../../text.ts';
import { pathWith } from '../components/filter-bar.tsx';
import { Icon } from '../components/icon.tsx';
import { policyPath } from '../components/paths.ts';
import { number } from '../components/progress.tsx';
import { Cut } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import type { Item } from '../queries/attention.ts';

/** The open findings of a policy with one severity, in the overview's list of what needs somebody. */
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
    <tr data-key={`findings ${severity} ${policy} ${group.account}`}>
      <td data-label="What">
        <a class={`badge is-${severity}`} href={path}>
          <Icon name={severity === 'error' ? 'circle-x' : 'triangle-alert'} />
          {countOf(open, severity)}
        </a>
      </td>
      <td data-label="Policy">
        <Cut whole={policy}>
          <a href={policyPath(policy)}>{policy}</a>
        </Cut>
      </td>
      <td data-label="Why">
        <Cut whole={findingsLine(group)}>
          <span class="dim">{findingsLine(group)}</span>
        </Cut>
      </td>
      <td data-label="Since" class="end">
        <Time at={since} now={now} show="relative" />
      </td>
      <td data-label="In a row" class="end wide-only">
        –
      </td>
      <td data-label="Action" class="end">
        <a class="action" href={path}>
          Look
          <span class="unseen">
            {' '}
            at {policy}: {countOf(open, severity)}
          </span>
        </a>
      </td>
    </tr>
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
