/** Targets of a run, one line each; a line opens to its steps, findings and task. */
import { useContext } from 'hono/jsx';
import { shownOutcome } from '../../run/moves.ts';
import { attemptsOf } from '../../run/report.ts';
import type { Finding, Run, Target } from '../../run/run.ts';
import { stepReports } from '../../run/steps.ts';
import type { Titles } from '../queries/reader.ts';
import { Badge } from './badge.tsx';
import { ReasonsContext, Why } from './contexts.tsx';
import { Dash } from './empty.tsx';
import { siteName, targetPath } from './paths.ts';
import { Cut, Table } from './table.tsx';
import { Sentence, Took } from './time.tsx';

export const TargetList = ({
  run,
  targets,
  titles,
  stepNames,
}: {
  run: Run;
  targets: readonly Target[];
  titles: Titles;
  /** The steps of the policy, to show the result of each. */
  stepNames: readonly string[];
}) => (
  <Table
    name="Targets"
    columns={(column) => [
      column('Target', 'w-target', ({ id, label }) => (
        <NamedTarget
          to={`${targetPath(run.account, id)}?run=${encodeURIComponent(run.id)}`}
          title={titles(run.account, id)}
          {...{ label, id }}
        />
      )),
      column('State', 'w-badge', (target) => <TargetBadge target={target} />),
      column('Why', '', (target) => <WhyCell target={target} stepNames={stepNames} />),
      column('Attempts', 'w-word end', (target) =>
        target.startedAt === undefined ? <Dash /> : attemptsOf(target),
      ),
      column('Took', 'w-word end', ({ startedAt, finishedAt }) => <Took from={startedAt} to={finishedAt} />),
    ]}
    rows={targets}
    keyOf={({ id }) => id}
  />
);

/** What the line says, and what is behind it. */
const WhyCell = ({ target, stepNames }: { target: Target; stepNames: readonly string[] }) => {
  const { reason, detail, taskId, findings = [] } = target;
  const sentence = useContext(ReasonsContext).get(reason ?? '')?.text;
  const line = (
    <>
      {reason && <Why reason={reason} />} {detail && <Sentence text={detail} />}
    </>
  );
  if (!reason && !detail && stepNames.length === 0) return null;
  const hasMore = stepNames.length > 0 || taskId !== undefined || findings.length > 0 || detail !== undefined;
  if (!hasMore) return <Cut whole={[reason, sentence].filter(Boolean).join(': ')}>{line}</Cut>;
  return (
    <details class="more">
      <summary>{reason || detail ? line : <span class="dim">Steps</span>}</summary>
      <Steps names={stepNames} target={target} />
      <Findings target={target} />
      {taskId && <p class="dim id">task {taskId}</p>}
    </details>
  );
};

/** The outcome of a target, or its state. */
export const TargetBadge = ({ target: { outcome, reason, state } }: { target: Target }) => (
  <Badge word={outcome ? shownOutcome(useContext(ReasonsContext), outcome, reason) : state} />
);

const words = { active: 'in progress', 'not-started': 'not started' } as const;

/** The result of each step of the policy on a target. Empty for a policy without steps. */
export const Steps = ({ names, target }: { names: readonly string[]; target: Target }) =>
  names.length === 0 ? null : (
    <ol class="steps">
      {stepReports(names, target).map(({ step, state, reason, detail, task_id }) => (
        <li class={state === 'not-started' ? 'dim' : ''}>
          {step}: {state === 'active' || state === 'not-started' ? words[state] : state}
          {/* Reason and detail of the step that ended the target are shown below. */}
          {state === 'succeeded' && (
            <>
              {reason && reason !== 'done' && (
                <>
                  {' '}
                  (<Why reason={reason} />)
                </>
              )}
              {detail && (
                <>
                  . <Sentence text={detail} />
                </>
              )}
              {task_id && <span class="dim id"> task {task_id}</span>}
            </>
          )}
        </li>
      ))}
    </ol>
  );

/** More lines can be opened: a hundred in one row would hide the targets below it. */
const MAX_LINES = 5;

/** The findings of a target. Those for information only, and all beyond the limit, can be opened. */
export const Findings = ({ target: { findings = [], detail } }: { target: Target }) => {
  // The detail is shown already.
  const unshown = findings.filter(({ message }) => message !== detail);
  const serious = unshown.filter(({ severity }) => severity !== 'info');
  const shown = serious.slice(0, MAX_LINES);
  const rest = [...serious.slice(MAX_LINES), ...unshown.filter(({ severity }) => severity === 'info')];
  return (
    <>
      <Lines findings={shown} />
      {rest.length > 0 && (
        <details>
          <summary>
            {rest.length} more {rest.length === 1 ? 'line' : 'lines'}
          </summary>
          <Lines findings={rest} />
        </details>
      )}
    </>
  );
};

const Lines = ({ findings }: { findings: readonly Finding[] }) =>
  findings.length === 0 ? null : (
    <ul>
      {findings.map(({ severity, about, message: says }) => (
        <li>
          {severity !== 'info' && <code>{severity}</code>} {about}: {says}
        </li>
      ))}
    </ul>
  );

// A target in a list: its address, and beside it the title of its site; or its id, if the site has no other name.

export const NamedTarget = (one: { label: string; id: string; title: string | undefined; to: string }) => {
  const { label, id, title, to } = one;
  const name = siteName(label, id);
  const beside = title && title !== name ? title : name === id ? '' : id;
  return (
    <Cut whole={[...new Set([label, title, id])].filter(Boolean).join(', ')}>
      <a href={to}>{name}</a> {beside && <span class="dim">{beside}</span>}
    </Cut>
  );
};
