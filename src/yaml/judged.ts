/** Cron expressions and time zones in configuration and policy files. */
import { z } from 'zod';
import { cronFault, cronPattern } from './cron.ts';
import { timezoneHint, timezoneNameFault, timezoneNames } from './timezones.ts';

/**
 * A schema that refuses texts for which `fault` returns a message, with a suggestion from `hint`. `hasForm` is
 * what the JSON Schema can check of it.
 */
const judged = (
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

export const cron = judged(cronFault, (text) => cronPattern.test(text)).meta({
  title: 'cron expression',
  pattern: cronPattern.source,
  patternErrorMessage: 'This is not a cron expression of five fields, such as 0 2 * * *.',
  examples: ['0 2 * * *', '*/15 * * * *', '0 7 * * mon-fri', '0 3 1 * *'],
});

export const timezone = judged(timezoneNameFault, () => false, timezoneHint).meta({
  title: 'time zone',
  // All names take 20 ms, and only the JSON Schema needs them.
  get enum() {
    return [...timezoneNames()];
  },
});
