import type { Finding, Target } from '../../run/run.ts';

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
