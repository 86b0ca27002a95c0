/** Kinds of values that several keys of a policy file have. */
import { z } from 'zod';

export const whole = (least: number, most: number) =>
  z
    .int({ error: `must be a whole number from ${least} to ${most}` })
    .min(least)
    .max(most);

export const name = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    'must consist of lowercase letters, digits and hyphens, at most 63, such as nightly-sync',
  );
