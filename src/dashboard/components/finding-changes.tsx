import type { Run } from '../../run/run.ts';
import { pathWith } from './filter-bar.tsx';
import { siteName, targetPath } from './paths.ts';
import { number } from './progress.tsx';

/** The first findings that are new in this run, and those that are resolved. */
export const FindingChanges = ({ run, findings }: { run: Run; findings: NonNullable<Run['findings']> }) => {
  const { firstNew = [], firstResolved = [] } = findings;
  const changes = [
    ...firstNew.map((one) => ({ one, word: 'New' })),
    ...firstResolved.map((one) => ({ one, word: 'Resolved' })),
  ];
  if (changes.length === 0) return null;
  const more = findings.new + findings.resolved - changes.length;
  return (
    <ul>
      {changes.map(({ one: { target, label, about, severity, message }, word }) => (
        <li>
          {word}: {severity !== 'info' && <code>{severity}</code>}{' '}
          <a href={targetPath(run.account, target)}>{siteName(label, target)}</a> ({about}): {message}
        </li>
      ))}
      {more > 0 && (
        <li>
          <a href={pathWith('/findings', { policy: run.policy, account: run.account })}>
            and {number(more)} more
          </a>
        </li>
      )}
    </ul>
  );
};
