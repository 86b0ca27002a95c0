/** The guard of a run that applies a saved plan: a target may request what was planned for it, and nothing else. */
import type { requestOf } from '../../contract/input.ts';
import type { Target } from '../../run/run.ts';
import { canonicalJson } from '../../text.ts';
import type { EngineDeps } from '../deps.ts';
import { NotPlannedError } from './errors.ts';

/**
 * Which planned request of the target this is, among those that had no effect yet; undefined when the run is not
 * limited to planned requests.
 *
 * @throws {NotPlannedError} when there is none. Nothing may be sent then.
 */
export async function plannedPosition(
  { records }: Pick<EngineDeps, 'records'>,
  run: { readonly id: string; readonly isPlanned: boolean },
  { id, sent = [] }: Pick<Target, 'id' | 'sent'>,
  asked: ReturnType<typeof requestOf>,
): Promise<number | undefined> {
  if (!run.isPlanned) return undefined;
  const { requests = [] } = (await records.planned.ofRun(run.id, [id])).get(id) ?? {};
  const request = canonicalJson(asked);
  const position = requests.findIndex((one, at) => !sent.includes(at) && canonicalJson(one) === request);
  if (position >= 0) return position;
  const isKnown = requests.some(({ operation }) => operation === asked.operation);
  const why = isKnown
    ? 'the plan has it with other values, or it was made already'
    : 'the plan does not have it';
  throw new NotPlannedError(`The job would call ${asked.operation} now, but ${why}. It was not called.`);
}
