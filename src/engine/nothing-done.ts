/** A run that ends well although it worked on nothing says so: its status alone would look like a success. */
import { jobOf } from '../policy/policy-job.ts';
import type { Run } from '../run/run.ts';
import { countOf } from '../text.ts';
import { type EngineDeps, policyOf } from './deps.ts';
import { wholeRuns } from './job-api.ts';

/**
 * A sentence for a run of which no target was worked on; undefined for any other, and for a job that only reports what
 * is selected. Costs no request.
 */
export async function sayNothingDone(
  deps: Pick<EngineDeps, 'records' | 'registry'>,
  run: Run,
): Promise<string | undefined> {
  const { planned, succeeded, failed } = run.counts;
  if (succeeded + failed > 0 || jobOf(deps.registry, policyOf(run))?.reportsSelection) return undefined;
  if (planned > 0) {
    const reasons = (await deps.records.targets.reasons([run.id])).get(run.id) ?? [];
    const said = reasons.map(({ reason, count }) => `${count} ${reason}`).join(', ');
    return `Nothing was done: ${planned === 1 ? 'the only target' : `all ${planned} targets`} ended without work (${said}).`;
  }
  let before = 0;
  for await (const { plan } of wholeRuns(deps, run.policy, run)) {
    before = plan?.targets ?? 0;
    break;
  }
  const had = before > 0 ? `, and the run before had ${countOf(before, 'target')}` : '';
  return `Nothing was done: no target was selected${had}.`;
}
