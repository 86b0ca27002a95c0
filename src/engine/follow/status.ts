/** Asks the service about one piece of followed work, by its own view. */
import { GoneError, RejectedError } from '../../client/errors.ts';
import type { TimeBounds } from '../../clock.ts';
import { ContractError } from '../../contract/answers.ts';
import type { Api } from '../../job/api.ts';
import { watchKindOf } from '../../job/registry.ts';
import type { Lost, Verdict } from '../../job/watch/watch.ts';
import type { Watch } from '../../run/run.ts';
import type { EngineDeps } from '../deps.ts';

/** The result of the work; `startOf`: when it began, by the service's clock. Throws the client's other errors. */
export async function requestStatus(
  api: Api,
  watch: Watch,
  startOf: () => Promise<TimeBounds>,
  { registry }: Pick<EngineDeps, 'registry'>,
): Promise<Verdict | Lost> {
  try {
    return await watchKindOf(registry, watch.kind).poll(api, watch, await startOf());
  } catch (error) {
    if (error instanceof GoneError) return { is: 'skipped', reason: 'gone' };
    if (error instanceof RejectedError || error instanceof ContractError) return { is: 'unclear' };
    throw error;
  }
}
