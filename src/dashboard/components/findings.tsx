import type { Finding, Target } from '../../run/run.ts';

/** So many lines tell enough at a glance; a row of a hundred would bury the targets below it. */
const AT_A_GLANCE = 5;

/**
 * What there is to say of a target besides how it ended; what is only for information, and what is much, can
 * be folded out.
 */
export const Findings = ({ target: { findings = [], detail } }: { target: Target }) => {
  // What the detail says already is not said again.
  const told = findings.filter(({ says }) => says !== detail);
  const graver = told.filter(({ severity }) => severity !== 'info');
  const shown = graver.slice(0, AT_A_GLANCE);
  const rest = [...graver.slice(AT_A_GLANCE), ...told.filter(({ severity }) => severity === 'info')];
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
      {findings.map(({ severity, about, says }) => (
        <li>
          {severity !== 'info' && <code>{severity}</code>} {about}: {says}
        </li>
      ))}
    </ul>
  );
