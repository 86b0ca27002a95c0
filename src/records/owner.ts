/** The target that something belongs to: an effect in the account, or a key that only one target may hold. */
import { defined } from '../defined.ts';

export interface Owner {
  run: string;
  target: string;
  /** The step of the policy that the target was at, from 0; missing for the first. */
  step?: number;
}

/** An owner as it is stored. */
export const ownerText = ({ run, target, step = 0 }: Owner): string =>
  [run, target, ...(step === 0 ? [] : [step])].join('\n');

/** The fields of an owner that `ownerText` wrote. */
export function ownerFields(text: unknown): Partial<Owner> {
  const [run, target, step] = typeof text === 'string' ? text.split('\n') : [];
  return {
    ...defined({ run, target }),
    ...(step === undefined ? {} : { step: Number(step) }),
  };
}
