import type { Target } from '../../run/run.ts';
import { stepReports } from '../../run/steps.ts';
import { Sentence, Why } from './components.tsx';

const words = { active: 'in progress', 'not-started': 'not started' } as const;

/** What became of each step of the policy on a target. Empty for a policy without steps. */
export const Steps = ({ names, target }: { names: readonly string[]; target: Target }) =>
  names.length === 0 ? null : (
    <ol>
      {stepReports(names, target).map(({ step, state, reason, detail, task_id }) => (
        <li>
          {step}: {state === 'active' || state === 'not-started' ? words[state] : state}
          {reason && state !== 'active' && (
            <>
              {' '}
              (<Why reason={reason} />)
            </>
          )}
          {/* The detail of the step that ended the target is shown below. */}
          {detail && state === 'succeeded' && (
            <>
              {' '}
              <Sentence text={detail} />
            </>
          )}
          {task_id && state === 'succeeded' && <span class="dim id"> task {task_id}</span>}
        </li>
      ))}
    </ol>
  );
