/**
 * Which of the things in the account is what a lost request made: its own, made after the intent by the
 * service's clock, and not what another target's record has already.
 */
import { isoTime, orderOf, type TimeBounds, timeOf } from '../../clock.ts';
import type { OperationId } from '../../contract/operations.ts';
import type { Intent } from '../../run/run.ts';
import type { Acting } from '../job.ts';

/** What an effect is looked for with. */
export type Looking = Pick<Acting<unknown>, 'api' | 'all' | 'serviceTime' | 'effects'>;

/** Something in the account that may be what a lost request made. */
export interface Candidate {
  id: string;
  createdAt: string | null | undefined;
  /** Whether it says what was asked for; false where it does not show enough to tell. */
  isSure: boolean;
}

export type OwnEffect = { is: 'found'; id: string } | { is: 'absent' } | { is: 'unknown'; detail: string };

/**
 * With a clock known no better than this, what may have been made before the intent is nobody's for certain.
 */
const MAX_UNCERTAIN_MS = 10_000;

/**
 * The candidate that is the intent's own, and from here on its target's. One from before the intent is not,
 * nor one of another target. One from about the time of the intent is, if it is the only one: whatever else
 * of ours made the like of it has it in its record. `what`: how a candidate is called where it stays unknown.
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
      ? `${what} was created since, and does not show for what.`
      : `${what} was created at about the time of the request, and it is not certain by whom.`;
  return { is: 'unknown', detail };
}

/** Whether a timestamp of the service is from before or after a time; uncertain for one that is not shown. */
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
  // Services that keep whole seconds cut the rest off.
  return { created_at: { gte: isoTime(earliest - 1_000) } };
}
