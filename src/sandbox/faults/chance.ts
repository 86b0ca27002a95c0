/** Random faults, the same ones for the same seed and the same requests. */
import type { Clock } from '../../clock.ts';
import { type FaultKind, faultKinds } from '../faults.ts';
import { randomFrom, seedOf } from '../world/random.ts';
import { MINUTE } from '../world/service-time.ts';
import type { FaultRates } from './names.ts';

/** Draws the faults of each request in turn. Maintenance is drawn for whole minutes of the clock. */
export function chanceOf(rates: FaultRates, seed: number, clock: Clock): () => readonly FaultKind[] {
  const rateOf = (kind: FaultKind): number => (rates as Partial<Record<FaultKind, number>>)[kind] ?? 0;
  const drawn = faultKinds.filter((kind) => kind !== 'maintenance' && rateOf(kind) > 0);
  const random = randomFrom(seedOf(seed, 'faults'));
  const isMaintained = () => {
    const minute = Math.floor(clock.now() / MINUTE);
    return randomFrom(seedOf(seed, `maintenance ${minute}`)).next() < rateOf('maintenance');
  };
  return () => {
    const met = drawn.filter((kind) => random.next() < rateOf(kind));
    return isMaintained() ? ['maintenance', ...met] : met;
  };
}
