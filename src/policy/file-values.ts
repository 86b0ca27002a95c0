/** Kinds of values that several keys of a policy file have. */
import { z } from 'zod';
import { timezoneFault, zoneHint } from '../dates.ts';

/** A schema that refuses texts for which `fault` returns a message, with a suggestion from `hint`. */
export const judged = (
  fault: (text: string) => string | undefined,
  hint: (text: string) => string | undefined = () => undefined,
) =>
  z.string().superRefine((text, context) => {
    const message = fault(text);
    if (message === undefined) return;
    context.addIssue({ code: 'custom', message, params: { suggestion: hint(text) } });
  });

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

export const timezone = judged(timezoneFault, zoneHint);
