/** What a person can agree to or stop: runs that wait for an approval, and changes that are announced. */

import type { AnnouncementReport } from '../../control/announcements.ts';
import { listAnnouncements, toAnnouncementReport } from '../../control/commands/announcements.ts';
import {
  formatChange,
  listApprovals,
  openTargets,
  type WaitingRun,
} from '../../control/commands/approve-run.ts';
import { ask } from '../auth/caller.ts';
import { Action } from '../components/action.tsx';
import { useMay } from '../components/contexts.tsx';
import { Empty } from '../components/empty.tsx';
import { showPage } from '../components/layout.tsx';
import { announcementPath, policyPath, runPath, siteName, targetPath } from '../components/paths.ts';
import { Fact, number } from '../components/progress.tsx';
import { Cut, Table } from '../components/table.tsx';
import { Sentence, Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';

export async function showApprovals(c: Exchange, context: DashboardContext): Promise<Response> {
  const waiting = await ask(c, context, listApprovals, {});
  const limit = MAX_ANNOUNCEMENTS;
  const announced = await ask(c, context, listAnnouncements, { limit });
  return showPage(
    c,
    context,
    { title: 'Approvals', here: '/approvals', live: '*' },
    <section>
      <div class="page-head">
        <h1>Approvals</h1>
      </div>
      <div class="stack" id="approvals" data-live>
        {waiting.length === 0 ? (
          <Empty title="No run waits for an approval." icon="badge-check">
            Runs of policies with <code>approval:</code> wait here until they are approved or rejected.
          </Empty>
        ) : (
          waiting.map((one) => <Waiting one={one} />)
        )}
      </div>
      <section id="announced" data-live>
        {announced.total > 0 && (
          <>
            <h2>Announced changes</h2>
            <p class="dim">
              Policies with <code>grace:</code> make these changes on their next run after the date. A later
              date in the note on the site counts instead.
            </p>
            <Announcements
              announcements={announced.announcements.map(toAnnouncementReport)}
              total={announced.total}
            />
          </>
        )}
      </section>
    </section>,
  );
}

const MAX_ANNOUNCEMENTS = 50;

/** What is asked: how much, why, what cannot be undone, until when. */
const Waiting = ({ one: { run, approval, whyNot, since } }: { one: WaitingRun }) => {
  const batches = run.rollout?.batches.length ?? 1;
  return (
    <article class="card" data-key={run.id} data-row>
      <div class="page-head">
        <div>
          <h2>
            <a href={runPath(run.id)}>{run.policy}</a>
          </h2>
          <p class="dim small id">{run.id}</p>
        </div>
        {whyNot === undefined ? (
          <span class="actions">
            <Action to={runPath(run.id, '/approve')} of={run.id} icon="badge-check">
              Approve
            </Action>
            <Action to={runPath(run.id, '/reject')} of={run.id} icon="ban">
              Reject
            </Action>
          </span>
        ) : (
          <span class="dim">{whyNot}</span>
        )}
      </div>
      <p>
        <Sentence text={approval.why} />
      </p>
      {approval.destructive && (
        <p class="note is-failed">Destructive: {approval.destructive.join(', ')}. This cannot be undone.</p>
      )}
      {since && (
        <p>
          {formatChange(since)} <a href={runPath(since.run)}>That run</a> was created <Time at={since.at} />.
        </p>
      )}
      <dl>
        <Fact name="Targets">
          <a href={runPath(run.id)}>{number(openTargets(run))}</a>
        </Fact>
        <Fact name="Requests, estimated">
          {approval.requests === undefined ? '–' : number(approval.requests)}
        </Fact>
        {batches > 1 && (
          <Fact name="Batches">
            {approval.from === approval.to ? approval.from : `${approval.from} to ${approval.to}`} of{' '}
            {batches}
          </Fact>
        )}
        <Fact name="Account">{run.account}</Fact>
        <Fact name="Job, and what started the run">
          <a href={policyPath(run.policy)}>{run.job}</a>, {run.trigger}
          {run.startedBy && ` by ${run.startedBy.name}`}
        </Fact>
        <Fact name="Waits since">
          <Time at={approval.since} />
        </Fact>
        <Fact name="Expires">
          <Time at={approval.expires} />
        </Fact>
      </dl>
    </article>
  );
};

/** The changes that are announced (`grace`) and not made yet. */
interface Props {
  announcements: readonly AnnouncementReport[];
  /** How many there are in all. */
  total: number;
}

const Announcements = ({ announcements, total }: Props) => {
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
