/** Freezes of a part of the work: of an account, a policy, a job, a client or a tag. */
import { z } from 'zod';
import { formatSpan } from '../clock.ts';
import { matchesPattern } from '../text.ts';
import { parseRecord } from './parse-record.ts';

const text = z.exactOptional(z.string());

/** All conditions that are given have to hold. A policy is given by name or pattern, a client and a tag by id or name. */
export const FreezeScope = z.object({ account: text, policy: text, job: text, client: text, tag: text });
export type FreezeScope = z.output<typeof FreezeScope>;

/** When a freeze recurs, in the words of `maintenance`. Ids are names of the settings, or numbers of freezes. */
const FreezeRule = z.object({
  ...{ id: z.string(), cron: z.array(z.string()), timezone: z.string(), forMs: z.number() },
});

/**
 * A freeze of a part. One that was ended early has that time as `until`, or its begin. With a rule, it is one
 * occurrence of it; what people freeze again and again is also stored as a whole, with the time of that as `at` and
 * `until`.
 */
export const ScopedFreeze = z.object({
  id: z.string(),
  scope: FreezeScope,
  at: z.number(),
  by: z.string(),
  reason: text,
  until: z.number(),
  rule: z.exactOptional(FreezeRule),
});
export type ScopedFreeze = z.output<typeof ScopedFreeze>;
export type RecurringFreeze = ScopedFreeze & Required<Pick<ScopedFreeze, 'rule'>>;

/** The fields of the hash of freezes that hold scoped ones, by their ids. */
export const scopedField = (id: string): string => `scoped:${id}`;
export const ruleField = (id: string): string => `rule:${id}`;

/** The scoped freezes in the hash, also those that are over, oldest first. */
export const scopedIn = (
  hash: Record<string, string>,
  key: string,
  prefix = scopedField(''),
): ScopedFreeze[] =>
  Object.entries(hash)
    .filter(([field]) => field.startsWith(prefix))
    .map(([, json]) => parseRecord(ScopedFreeze, json, key))
    .sort((a, b) => a.at - b.at);

/** What a freeze needs to know of a policy. */
export interface FreezeSubject {
  name: string;
  account: string;
  job: string;
}

/** Whether the policy, its account and its job are those of the freeze, as far as it names them. */
export const concerns = ({ account, policy, job }: FreezeScope, subject: FreezeSubject): boolean =>
  (account === undefined || account === subject.account) &&
  (policy === undefined || matchesPattern(subject.name, policy)) &&
  (job === undefined || job === subject.job);

/** Whether it is decided for each target, by its client and tags, and not for a whole run. */
export const isOfTargets = ({ client, tag }: FreezeScope): boolean =>
  client !== undefined || tag !== undefined;

/** `the account default and the tag "Premium"`. */
export function formatScope({ account, policy, job, client, tag }: FreezeScope): string {
  const parts = [
    ...(account === undefined ? [] : [`the account ${account}`]),
    ...(policy === undefined ? [] : [`the policy ${policy}`]),
    ...(job === undefined ? [] : [`the job ${job}`]),
    ...(client === undefined ? [] : [`the client "${client}"`]),
    ...(tag === undefined ? [] : [`the tag "${tag}"`]),
  ];
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

/** `for 1d from each "0 0 * * sun" (Europe/Berlin)`. */
export const formatRule = ({ cron, timezone, forMs }: RecurringFreeze['rule']): string =>
  `for ${formatSpan(forMs)} from each ${cron.map((one) => `"${one}"`).join(' and ')} (${timezone})`;
