import type { Target } from '../../run/run.ts';
import { stepReports } from '../../run/steps.ts';
import { Why } from './contexts.tsx';
import { Sentence } from './time.tsx';

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
