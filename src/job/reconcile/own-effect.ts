/**
 * Decides which item in the account a lost request made: one that was made after the intent, by the service's
 * clock, and that no other target has recorded as its effect.
 */
import { isoTime, orderOf, type TimeBounds, timeOf } from '../../clock.ts';
import type { OperationId } from '../../contract/operations.ts';
import type { Intent } from '../../run/run.ts';
import type { Acting } from '../job.ts';

/** What is needed to look for an effect. */
export type Looking = Pick<Acting<unknown>, 'api' | 'all' | 'serviceTime' | 'effects'>;

/** An item in the account that a lost request may have made. */
export interface Candidate {
  id: string;
  createdAt: string | null | undefined;
  /** Whether it shows the requested values; false when it does not show enough to decide. */
  isSure: boolean;
}

export type OwnEffect = { is: 'found'; id: string } | { is: 'absent' } | { is: 'unknown'; detail: string };

/**
 * When the service's clock is known less precisely than this, an item from about the time of the intent is
 * never taken as its effect.
 */
const MAX_UNCERTAIN_MS = 10_000;

/**
 * Finds the intent's own effect among the candidates, and claims it for the target. A candidate from before
 * the intent, or of another target, is excluded. One from about the time of the intent counts if it is the
 * only one: any other request of ours has recorded its own effect. `what`: the name of a candidate in the
 * detail of an unknown result.
 */
export async function ownOf(
  { serviceTime, effects }: Pick<Looking, 'serviceTime' | 'effects'>,
  operation: OperationId,
  intent: Intent,
  candidates: readonly Candidate[],
  what = 'Something of this kind',
): Promise<OwnEffect> {
  const intended = await serviceTime(intent.at);
  const open: { id: string; isSure: boolean; order: 'after' | 'uncertain' }[] = [];
  for (const { id, createdAt, isSure } of candidates) {
    const order = orderIn(createdAt, intended);
    if (order === 'before' || (await effects.belongsToOther(operation, id))) continue;
    open.push({ id, isSure, order });
  }
  const sure = open.filter((one) => one.isSure);
  const certain = sure.filter(({ order }) => order === 'after');
  const isNear = intended.latest - intended.earliest <= MAX_UNCERTAIN_MS;
  const near = isNear && sure.length === 1 ? sure : [];
  for (const { id } of certain.length > 0 ? certain : near)
    if (await effects.claim(operation, id)) return { is: 'found', id };
  if (open.length === 0) return { is: 'absent' };
  const detail =
    sure.length === 0
      ? `${what} was created since, but does not show what for.`
      : `${what} was created at about the time of the request, but it is not certain by whom.`;
  return { is: 'unknown', detail };
}

/** Whether a timestamp of the service is before or after a time; uncertain when it is not shown. */
export function orderIn(
  timestamp: string | null | undefined,
  intended: TimeBounds,
): 'before' | 'after' | 'uncertain' {
  const time = timeOf(timestamp);
  return time ? orderOf(time, intended) : 'uncertain';
}

/** The filter for what was created since the intent, or may have been. */
export async function createdSince({ serviceTime }: Pick<Looking, 'serviceTime'>, intent: Intent) {
  const { earliest } = await serviceTime(intent.at);
  // A service that stores whole seconds truncates the rest.
  return { created_at: { gte: isoTime(earliest - 1_000) } };
}
