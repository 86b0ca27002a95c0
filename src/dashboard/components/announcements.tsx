/** The changes that are announced (`grace`) and not made yet. */
import type { AnnouncementReport } from '../../control/announcements.ts';
import { Action } from './action.tsx';
import { useMay } from './contexts.tsx';
import { announcementPath, policyPath, targetPath } from './paths.ts';
import { number } from './progress.tsx';
import { siteName } from './site-name.ts';
import { Cut, Table } from './table.tsx';
import { Time } from './time.tsx';

interface Props {
  announcements: readonly AnnouncementReport[];
  /** How many there are in all. */
  total: number;
}

export const Announcements = ({ announcements, total }: Props) => {
  const may = useMay();
  return (
    <>
      <Table
        name="Announced changes"
        columns={(column) => [
          column('Target', '', ({ account, site, label }) => (
            <Cut whole={label} to={site === null ? undefined : targetPath(account, site)}>
              {site === null ? label : siteName(label, site)}
            </Cut>
          )),
          column('Change', 'w-name', ({ operation }) => <Cut whole={operation ?? 'not known'} />),
          column('Policy', 'w-name', ({ policy }) => <Cut whole={policy} to={policyPath(policy)} />),
          column('On or after', 'w-when', ({ change_from: from }) =>
            from === null ? (
              'not known'
            ) : (
              <Cut whole={from}>
                <Time at={Date.parse(from)} />
              </Cut>
            ),
          ),
          column('Action', 'w-do end', (one) =>
            one.cancelled_by !== null ? (
              <span class="dim">cancelled by {one.cancelled_by}</span>
            ) : (
              may('operator', one) && (
                <Action to={announcementPath(one.id, '/cancel')} of={one.label}>
                  Cancel
                </Action>
              )
            ),
          ),
        ]}
        rows={announcements}
        keyOf={({ id }) => id}
      />
      {total > announcements.length && (
        <p class="dim">
          The next {number(announcements.length)} of {number(total)}. <code>caretaker announcements</code>{' '}
          lists the rest.
        </p>
      )}
    </>
  );
};
