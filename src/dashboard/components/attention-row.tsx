import type { Child } from 'hono/jsx';
import { Cut } from './table.tsx';
import { Time } from './time.tsx';

interface AttentionRowProps {
  /** Unique in the list. */
  name: string;
  what: Child;
  policy: Child;
  /** The whole text of the policy, on hover. */
  whole: string;
  why: Child;
  /** The whole text of why, on hover. */
  wholeWhy: string;
  since?: number | undefined;
  /** How many runs in a row. */
  streak?: string | undefined;
  action: Child;
  now: number;
}

/** One line of the overview's list of what needs a person. */
export const AttentionRow = (props: AttentionRowProps) => {
  const { name, what, policy, whole, why, wholeWhy, since, streak = '–', action, now } = props;
  return (
    <tr data-key={name}>
      <td data-label="What">{what}</td>
      <td data-label="Policy">
        <Cut whole={whole}>{policy}</Cut>
      </td>
      <td data-label="Why">
        <Cut whole={wholeWhy}>{why}</Cut>
      </td>
      <td data-label="Since" class="end">
        <Time at={since} now={now} show="relative" />
      </td>
      <td data-label="In a row" class="end wide-only">
        {streak}
      </td>
      <td data-label="Action" class="end">
        {action}
      </td>
    </tr>
  );
};
