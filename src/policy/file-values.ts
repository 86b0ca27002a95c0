/** Kinds of values that several keys of a policy file have. */
import { z } from 'zod';
import { timezoneHint, timezoneNameFault, timezoneNames } from '../yaml/timezones.ts';

/**
 * A schema that refuses texts for which `fault` returns a message, with a suggestion from `hint`. `hasForm` is
 * what the JSON Schema can check of it.
 */
export const judged = (
  fault: (text: string) => string | undefined,
  hasForm: (text: string) => boolean,
  hint: (text: string) => string | undefined = () => undefined,
) =>
  z.string().superRefine((text, context) => {
    const message = fault(text);
    if (message === undefined) return;
    const params = { suggestion: hint(text), form: !hasForm(text) };
    context.addIssue({ code: 'custom', message, params });
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

export const timezone = judged(timezoneNameFault, () => false, timezoneHint).meta({
  title: 'time zone',
  enum: [...timezoneNames()],
});
