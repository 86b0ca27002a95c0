import type { Child } from 'hono/jsx';
import { Badge, number, policyPath, runPath, Table, Time, Why, WhyLine } from '../components/components.tsx';
import type { Day, Group, OfPolicy, Trouble } from '../queries/last-day.ts';

const MAX_TROUBLED_SHOWN = 10;
const POLICIES_A_GROUP = 3;
/** What is folded out is bounded too; the counts before it are not. */
const MAX_FOLDED = 200;

/** What happened in the last day, in one sentence, and what went wrong in it, in groups. */
export const LastDay = ({ day, now }: { day: Day; now: number }) => (
  <section id="day" data-live>
    <h2>The last 24 hours</h2>
    {day.statuses.length === 0 ? (
      <p class="dim">Nothing ran. A policy fires by its schedule, or now by “Run now” beside it.</p>
    ) : (
      <>
        <p class="lead">{headline(day)}</p>
        <p class="dim">
          Runs that ended since <Time at={day.since} now={now} />, and those under way.
        </p>
      </>
    )}
    <Troubles troubled={day.troubled} now={now} />
    <Groups name="Failed" groups={day.failed} />
    <Groups name="Skipped" groups={day.leftUndone} />
  </section>
);

/** `7 runs: 5 succeeded, 2 partial. 12 targets succeeded, 3 failed, 4 skipped.` */
function headline({ statuses, succeeded, failed, leftUndone }: Day): string {
  const sum = (counted: readonly { count: number }[]) =>
    counted.reduce((total, { count }) => total + count, 0);
  const runs = sum(statuses);
  const context = statuses.map(({ status, count }) => `${number(count)} ${status}`);
  return `${number(runs)} ${runs === 1 ? 'run' : 'runs'}: ${context.join(', ')}. ${number(succeeded)} ${succeeded === 1 ? 'target' : 'targets'} succeeded, ${number(sum(failed))} failed, ${number(sum(leftUndone))} skipped.`;
}

const Troubles = ({ troubled, now }: { troubled: readonly Trouble[]; now: number }) =>
  troubled.length === 0 ? null : (
    <>
      <h3>Runs that did not go through</h3>
      <Table
        name="Runs that did not go through, by policy"
        heads={['Runs', 'Policy', 'The latest of them']}
        widths={['w-count', 'w-name', '']}
      >
        {troubled.slice(0, MAX_TROUBLED_SHOWN).map((trouble) => (
          <TroubleRow trouble={trouble} now={now} />
        ))}
      </Table>
      <Folded rest={troubled.slice(MAX_TROUBLED_SHOWN)}>
        {({ policy, status, count }) => (
          <>
            <a href={policyPath(policy)}>{policy}</a>: {number(count)} {status}
          </>
        )}
      </Folded>
    </>
  );

const TroubleRow = ({ trouble, now }: { trouble: Trouble; now: number }) => {
  const { policy, status, count, run } = trouble;
  return (
    <tr data-key={`${status} ${policy}`}>
      <td data-label="Runs">
        {number(count)} <Badge word={status} />
      </td>
      <td data-label="Policy">
        <a href={policyPath(policy)}>{policy}</a>
      </td>
      <td data-label="The latest">
        {run ? (
          <>
            <a href={runPath(run.id)}>
              <Time at={run.startedAt ?? run.createdAt} now={now} />
            </a>
            <WhyLine run={run} />
          </>
        ) : (
          <span class="dim">no longer kept</span>
        )}
      </td>
    </tr>
  );
};

const Groups = ({ name, groups }: { name: string; groups: readonly Group[] }) =>
  groups.length === 0 ? null : (
    <>
      <h3>{name}, by reason</h3>
      <Table name={`${name}, by reason`} heads={['Targets', 'Why', 'In']} widths={['w-count', '', 'w-in']}>
        {groups.map((group) => (
          <tr data-key={`${group.outcome} ${group.reason}`}>
            <td data-label="Targets">
              {number(group.count)} <Badge word={group.outcome} />
            </td>
            <td data-label="Why">
              <Why reason={group.reason} />
            </td>
            <td data-label="In">
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

/**
 * How many targets of one policy there are in a group, with the run that they are in, or the latest of
 * several.
 */
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

/** The policies that there is no room for, as a list to fold out. */
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
