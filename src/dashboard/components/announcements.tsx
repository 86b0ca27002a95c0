/** The changes that are announced (`grace`) and not made yet. */
import type { AnnouncementReport } from '../../control/announcements.ts';
import { Action } from './action.tsx';
import { useMay } from './contexts.tsx';
import { announcementPath, policyPath, targetPath } from './paths.ts';
import { number } from './progress.tsx';
import { siteName } from './site-name.ts';
import { Cut, DataTable } from './table.tsx';
import { Time } from './time.tsx';

interface Props {
  announcements: readonly AnnouncementReport[];
  /** How many there are in all. */
  total: number;
  now: number;
}

export const Announcements = ({ announcements, total, now }: Props) => {
  const may = useMay();
  return (
    <>
      <DataTable
        name="Announced changes"
        columns={[
          { head: 'Target' },
          { head: 'Change', width: 'w-name' },
          { head: 'Policy', width: 'w-name' },
          { head: 'On or after', width: 'w-when' },
          { head: 'Action', width: 'w-do', end: true },
        ]}
      >
        {announcements.map((one) => (
          <tr data-key={one.id} data-row>
            <td>
              {one.site === null ? (
                <Cut whole={one.label} />
              ) : (
                <a href={targetPath(one.account, one.site)}>
                  <Cut whole={one.label}>{siteName(one.label, one.site)}</Cut>
                </a>
              )}
            </td>
            <td data-label="Change">
              <Cut whole={one.operation ?? 'not known'} />
            </td>
            <td data-label="Policy">
              <a href={policyPath(one.policy)}>
                <Cut whole={one.policy} />
              </a>
            </td>
            <td data-label="On or after">
              {one.change_from === null ? (
                'not known'
              ) : (
                <Cut whole={one.change_from}>
                  <Time at={Date.parse(one.change_from)} now={now} />
                </Cut>
              )}
            </td>
            <td data-label="Action" class="end">
              {one.cancelled_by !== null ? (
                <span class="dim">cancelled by {one.cancelled_by}</span>
              ) : (
                may('operator', one) && (
                  <Action to={announcementPath(one.id, '/cancel')} of={one.label}>
                    Cancel
                  </Action>
                )
              )}
            </td>
          </tr>
        ))}
      </DataTable>
      {total > announcements.length && (
        <p class="dim">
          The next {number(announcements.length)} of {number(total)}. <code>caretaker announcements</code>{' '}
          lists the rest.
        </p>
      )}
    </>
  );
};
