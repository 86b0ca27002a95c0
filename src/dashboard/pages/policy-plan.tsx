import type { Child } from 'hono/jsx';
import type { Policy } from '../../policy/policy.ts';
import { MAX_LISTED, type StoredPreview } from '../../records/preview-store.ts';
import { countOf } from '../../text.ts';
import { Badge } from '../components/badge.tsx';
import { useMay } from '../components/contexts.tsx';
import { Empty } from '../components/empty.tsx';
import { Icon } from '../components/icon.tsx';
import { policyPath, targetPath } from '../components/paths.ts';
import { Fact, number, Stat, Stats } from '../components/progress.tsx';
import { Cut, Table } from '../components/table.tsx';
import { span, Time, Took } from '../components/time.tsx';
import { policyTab } from './policy.tsx';

/** The last plan that a person made, and the button that makes one. Opening it requests nothing of the service. */
export const showPlan = policyTab('Plan', async (_, { reader, plansInWork }, policy) => {
  const [plan, runs] = await Promise.all([
    reader.preview(policy.name),
    reader.runs({ policy: policy.name, limit: 5 }),
  ]);
  const usual = runs.find((run) => run.plan)?.plan?.requests;
  const inWork = plansInWork.get(policy.name);
  return (
    <section id="plan" class="tab" data-live>
      {inWork && inWork.failed === undefined ? (
        <p class="note is-busy" role="status">
          <Icon name="loader" /> {inWork.by} is planning, for <Took from={inWork.at} to={undefined} />: the
          result is shown here when the service has listed the account.
        </p>
      ) : (
        <MakePlan policy={policy} usual={usual} isAgain={plan !== undefined} />
      )}
      {inWork?.failed !== undefined && (
        <p class="note is-bad">
          The plan that {inWork.by} asked for <Time at={inWork.at} show="relative" /> could not be made:{' '}
          {inWork.failed}
        </p>
      )}
      {plan ? (
        <Plan plan={plan} policy={policy} />
      ) : (
        <Empty title="No plan was made in the last 24 hours." icon="search-check">
          A plan shows what a run would do now: its targets, what it would exclude and why, and its price in
          requests. It changes nothing.
        </Empty>
      )}
    </section>
  );
});

const MakePlan = ({
  policy: { name, account },
  usual,
  isAgain,
}: {
  policy: Policy;
  usual: number | undefined;
  isAgain: boolean;
}) => {
  const price =
    usual === undefined
      ? 'one request for 100 candidates, and what the job prepares'
      : `about ${number(usual)} ${usual === 1 ? 'request' : 'requests'}, as the plan of its latest run`;
  return useMay()('operator', { policy: name, account }) ? (
    <form class="between" method="post" action={policyPath(name, '/plan')}>
      <span class="dim">Planning lists the candidates now. It changes nothing, and costs {price}.</span>
      <button type="submit">{isAgain ? 'Plan again' : 'Plan'}</button>
    </form>
  ) : (
    <p class="dim">Planning spends requests of the account, so it needs the role operator.</p>
  );
};

const Plan = ({ plan, policy }: { plan: StoredPreview; policy: Policy }) => {
  const { counts, cost, stoppedBy, warnings } = plan;
  const acting = cost.acting + cost.following;
  return (
    <>
      {plan.hash !== policy.hash && (
        <p class="note is-warn">The policy has changed since this plan was made: plan again.</p>
      )}
      {stoppedBy !== undefined && (
        <p class="note is-bad">A run would stop before it sends anything: {stoppedBy}</p>
      )}
      {warnings.map((warning) => (
        <p class="note is-warn">{warning}</p>
      ))}
      <p>
        Planned by {plan.by}, <Time at={plan.at} />, from <code>{plan.list}</code>.
      </p>
      <Stats>
        <Stat
          name="Targets"
          hint={counts.settled === 0 ? undefined : `and ${number(counts.settled)} without a request`}
        >
          {number(counts.targets)}
        </Stat>
        <Stat name="Excluded">{number(counts.excluded)}</Stat>
        <Stat
          name="Requests of a run"
          hint={`${number(Math.round(cost.planning))} to plan, ${number(Math.round(acting))} to act and follow; ${basisOf(plan)}`}
        >
          {number(Math.round(cost.planning + acting))}
        </Stat>
        <Stat name="Expected duration" hint={`at least ${span(cost.atLeastMs)} with the whole budget`}>
          {span(cost.takesMs)}
        </Stat>
      </Stats>
      <Conditions plan={plan} />
      <Targets plan={plan} policy={policy} />
      <Settled plan={plan} policy={policy} />
      <Excluded plan={plan} />
    </>
  );
};

const basisOf = ({ cost: { pastRuns, runsBeside } }: StoredPreview): string =>
  [
    pastRuns === 0 ? 'estimated without past runs' : `by ${countOf(pastRuns, 'past run')}`,
    ...(runsBeside === 0 ? [] : [`beside ${countOf(runsBeside, 'active run')}`]),
  ].join(', ');

/** Approval, batches, and what else a run would wait for or write. */
const Conditions = ({ plan: { approval, batches, spreadMs, recording } }: { plan: StoredPreview }) => {
  const facts: { name: string; is: Child }[] = [
    {
      name: 'Approval',
      is: approval
        ? `${approval.why} Decided by ${approval.by.join(', ')}, within ${span(approval.expiresMs)}${approval.separate ? ', not by who started the run' : ''}${approval.eachBatch ? ', for each batch' : ''}.`
        : 'not needed',
    },
    ...(batches.length > 0
      ? [
          {
            name: 'Batches',
            is: (
              <ol>
                {batches.map(({ takes, targets }) => (
                  <li>
                    {countOf(targets, 'target')} <span class="dim">({takes})</span>
                  </li>
                ))}
              </ol>
            ),
          },
        ]
      : []),
    ...(spreadMs === undefined ? [] : [{ name: 'Starts targets over', is: span(spreadMs) }]),
    ...(recording
      ? [
          {
            name: 'Written to sites',
            is: `${countOf(recording.sites, 'site')}, ${countOf(Math.round(recording.requests), 'request')}`,
          },
        ]
      : []),
  ];
  return (
    <dl>
      {facts.map(({ name, is }) => (
        <Fact name={name}>{is}</Fact>
      ))}
    </dl>
  );
};

const More = ({ listed, of }: { listed: number; of: number }) =>
  of > listed ? (
    <p class="dim">
      The first {number(listed)} of {number(of)}. <code>caretaker plan --all</code> prints all of them.
    </p>
  ) : null;

const targetIn =
  ({ account }: Policy) =>
  ({ id, label }: Record<'id' | 'label', string>) => (
    <Cut whole={`${label}, ${id}`} to={targetPath(account, id)}>
      {label}
    </Cut>
  );

const Targets = ({ plan: { targets, counts }, policy }: { plan: StoredPreview; policy: Policy }) => (
  <section aria-label="Targets">
    <h2>Targets</h2>
    {targets.length === 0 ? (
      <p class="dim">A run would have no target.</p>
    ) : (
      <Table
        name="Targets of the plan"
        columns={(column) => [
          column('Target', 'w-target', targetIn(policy)),
          column('What is sent', '', ({ does }) => <Cut whole={does} />),
        ]}
        rows={targets}
        keyOf={({ id }) => id}
      />
    )}
    <More listed={targets.length} of={counts.targets} />
  </section>
);

const Settled = ({ plan: { settled, counts }, policy }: { plan: StoredPreview; policy: Policy }) =>
  settled.length === 0 ? null : (
    <section aria-label="Recorded without a request">
      <h2>Recorded without a request</h2>
      <Table
        name="Recorded without a request"
        columns={(column) => [
          column('Target', 'w-target', targetIn(policy)),
          column('Outcome', 'w-badge', ({ outcome }) => <Badge word={outcome} />),
          column('Why', '', ({ why }) => <Cut whole={why} />),
        ]}
        rows={settled}
        keyOf={({ id }) => `settled ${id}`}
      />
      <More listed={settled.length} of={counts.settled} />
    </section>
  );

/** By reason first: that is what most exclusions differ in. */
const Excluded = ({ plan: { excluded, reasons, counts } }: { plan: StoredPreview }) =>
  excluded.length === 0 ? null : (
    <section aria-label="Excluded">
      <h2>Excluded</h2>
      <ul>
        {reasons.slice(0, 20).map(({ why, count }) => (
          <li>
            {number(count)}: {why}
          </li>
        ))}
        {reasons.length > 20 && (
          <li class="dim">
            {reasons.length >= MAX_LISTED
              ? 'and other reasons'
              : `and ${number(reasons.length - 20)} other reasons`}
          </li>
        )}
      </ul>
      <details>
        <summary>
          Each of them <b>({number(counts.excluded)})</b>
        </summary>
        <ul>
          {excluded.map(({ id, label, why }) => (
            <li>
              {label} <span class="dim id">{id}</span>: {why}
            </li>
          ))}
        </ul>
        <More listed={excluded.length} of={counts.excluded} />
      </details>
    </section>
  );
