import type { Child } from 'hono/jsx';
import { Badge, number, policyPath, runPath, Table, Time, Why, WhyLine } from '../components/components.tsx';
import type { Day, Group, OfPolicy, UnsuccessfulRuns } from '../queries/last-day.ts';

const MAX_UNSUCCESSFUL = 10;
const POLICIES_A_GROUP = 3;
/** Lists that can be opened are bounded too; the counts above them are not. */
const MAX_FOLDED = 200;

/** The runs of the last day in one sentence, then what was not successful, in groups. */
export const LastDay = ({ day, now }: { day: Day; now: number }) => (
  <section id="day" data-live>
    <h2>The last 24 hours</h2>
    {day.statuses.length === 0 ? (
      <p class="dim">No runs. A policy runs on its schedule, or now with “Run now” beside it.</p>
    ) : (
      <>
        <p class="lead">{headline(day)}</p>
        <p class="dim">
          Runs that ended since <Time at={day.since} now={now} />, and active runs.
        </p>
      </>
    )}
    <Unsuccessful all={day.unsuccessful} now={now} />
    <Groups name="Failed" groups={day.failed} />
    <Groups name="Skipped" groups={day.skipped} />
  </section>
);

/** `7 runs: 5 succeeded, 2 partial. 12 targets succeeded, 3 failed, 4 skipped.` */
function headline({ statuses, succeeded, failed, skipped }: Day): string {
  const sum = (counted: readonly { count: number }[]) =>
    counted.reduce((total, { count }) => total + count, 0);
  const runs = sum(statuses);
  const byStatus = statuses.map(({ status, count }) => `${number(count)} ${status}`);
  return `${number(runs)} ${runs === 1 ? 'run' : 'runs'}: ${byStatus.join(', ')}. ${number(succeeded)} ${succeeded === 1 ? 'target' : 'targets'} succeeded, ${number(sum(failed))} failed, ${number(sum(skipped))} skipped.`;
}

const Unsuccessful = ({ all, now }: { all: readonly UnsuccessfulRuns[]; now: number }) =>
  all.length === 0 ? null : (
    <>
      <h3>Unsuccessful runs</h3>
      <Table
        name="Unsuccessful runs, by policy"
        heads={['Runs', 'Policy', 'Latest']}
        widths={['w-count', 'w-name', '']}
      >
        {all.slice(0, MAX_UNSUCCESSFUL).map((runs) => (
          <UnsuccessfulRow runs={runs} now={now} />
        ))}
      </Table>
      <Folded rest={all.slice(MAX_UNSUCCESSFUL)}>
        {({ policy, status, count }) => (
          <>
            <a href={policyPath(policy)}>{policy}</a>: {number(count)} {status}
          </>
        )}
      </Folded>
    </>
  );

const UnsuccessfulRow = ({ runs, now }: { runs: UnsuccessfulRuns; now: number }) => {
  const { policy, status, count, run } = runs;
  return (
    <tr data-key={`${status} ${policy}`}>
      <td data-label="Runs">
        {number(count)} <Badge word={status} />
      </td>
      <td data-label="Policy">
        <a href={policyPath(policy)}>{policy}</a>
      </td>
      <td data-label="Latest">
        {run ? (
          <>
            <a href={runPath(run.id)}>
              <Time at={run.startedAt ?? run.createdAt} now={now} />
            </a>
            <WhyLine run={run} />
          </>
        ) : (
          <span class="dim">no longer stored</span>
        )}
      </td>
    </tr>
  );
};

const Groups = ({ name, groups }: { name: string; groups: readonly Group[] }) =>
  groups.length === 0 ? null : (
    <>
      <h3>{name}, by reason</h3>
      <Table
        name={`${name}, by reason`}
        heads={['Targets', 'Why', 'Policies']}
        widths={['w-count', '', 'w-in']}
      >
        {groups.map((group) => (
          <tr data-key={`${group.outcome} ${group.reason}`}>
            <td data-label="Targets">
              {number(group.count)} <Badge word={group.outcome} />
            </td>
            <td data-label="Why">
              <Why reason={group.reason} />
            </td>
            <td data-label="Policies">
              {group.policies.slice(0, POLICIES_A_GROUP).map((ofPolicy) => (
                <p>
                  <InPolicy group={group} ofPolicy={ofPolicy} />
                </p>
              ))}
              <Folded rest={group.policies.slice(POLICIES_A_GROUP)}>
                {(ofPolicy) => <InPolicy group={group} ofPolicy={ofPolicy} />}
              </Folded>
            </td>
          </tr>
        ))}
      </Table>
    </>
  );

/** The number of targets of one policy in a group, with a link to their run, or to the latest of several. */
const InPolicy = ({ group, ofPolicy }: { group: Group; ofPolicy: OfPolicy }) => {
  const { policy, count, runs, latest } = ofPolicy;
  const path = runPath(latest, `?outcome=${group.outcome}&search=${group.reason}`);
  if (runs === 1) {
    return (
      <a href={path}>
        {policy}: {number(count)}
      </a>
    );
  }
  return (
    <>
      <a href={policyPath(policy)}>{policy}</a>: {number(count)} in {number(runs)} runs,{' '}
      <a href={path}>the latest</a>
    </>
  );
};

/** The remaining policies, as a list that can be opened. */
function Folded<T>({ rest, children }: { rest: readonly T[]; children: (one: T) => Child }) {
  if (rest.length === 0) return null;
  const more = rest.length - MAX_FOLDED;
  return (
    <details>
      <summary>
        {number(rest.length)} more {rest.length === 1 ? 'policy' : 'policies'}
      </summary>
      <ul>
        {rest.slice(0, MAX_FOLDED).map((one) => (
          <li>{children(one)}</li>
        ))}
        {more > 0 && <li>and {number(more)} more</li>}
      </ul>
    </details>
  );
}
