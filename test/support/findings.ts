/** Findings in the records, as runs leave them when they end. */

import type { SeenFinding } from '../../src/records/findings-store.ts';
import type { Records } from '../../src/records/records.ts';
import type { Run } from '../../src/run/run.ts';
import { aRun } from './builders.ts';

interface Found {
  policy?: string;
  account?: string;
  /** When the run began. */
  at: number;
  found: readonly Partial<SeenFinding>[];
}

let count = 0;

/** A run over everything that the policy selects, which found this and nothing else. */
export async function findIn(
  records: Records,
  { policy = 'stale-backups', account = 'default', at, found }: Found,
): Promise<Run> {
  count += 1;
  const run = aRun({ id: `${policy}.${account}.${count}`, policy, account, createdAt: at });
  await records.runs.create(run, { concurrency: 5, targetMs: 60_000 });
  const compared = { id: run.id, account, policy, startedAt: at, isWhole: true };
  const seen = found.map((one, index) => aFinding({ target: `site-${index}`, ...one }));
  await records.findings.note(compared, 1, seen);
  const gone = [];
  for await (const page of records.findings.pages(account, policy))
    gone.push(...page.filter(({ last }) => last !== run.id));
  await records.findings.resolve(compared, gone);
  await records.runs.move(run, 'planning', { at });
  await records.runs.move(run, 'running', { at, planComplete: true });
  await records.runs.move(run, 'succeeded', { at });
  return run;
}

const aFinding = ({ target = 'site-0', ...one }: Partial<SeenFinding>): SeenFinding => ({
  target,
  label: `https://${target}.example`,
  severity: 'error',
  about: 'backup',
  message: 'The last backup is 3 days old',
  ...one,
});
