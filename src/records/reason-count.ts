import { z } from 'zod';
import { outcomes, reason } from '../run/run.ts';
import { checkRecord } from './parse-record.ts';

/** How many targets of a run ended with this outcome for this reason. */
const ReasonCount = z.object({ outcome: z.enum(outcomes), reason, count: z.number() });
export type ReasonCount = z.output<typeof ReasonCount>;

/** The count in a field `<outcome> <reason>` and its value. */
export function toReasonCount([field, count]: [string, string], key: string): ReasonCount {
  const [outcome, reason] = field.split(' ');
  return checkRecord(ReasonCount, { outcome, reason, count: Number(count) }, key);
}
