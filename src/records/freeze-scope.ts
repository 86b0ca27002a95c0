/** Freezes of a part of the work: of an account, a policy, a job, a client or a tag. */
import { z } from 'zod';
import { parseRecord } from './parse-record.ts';

const text = z.exactOptional(z.string());

/** All conditions that are given have to hold. A client and a tag are given by id or name. */
export const FreezeScope = z.object({ account: text, policy: text, job: text, client: text, tag: text });
export type FreezeScope = z.output<typeof FreezeScope>;

/** A freeze of a part. One that was ended early has that time as `until`. */
export const ScopedFreeze = z.object({
  id: z.string(),
  scope: FreezeScope,
  at: z.number(),
  by: z.string(),
  reason: text,
  until: z.number(),
});
export type ScopedFreeze = z.output<typeof ScopedFreeze>;

/** The fields of the hash of freezes that hold scoped ones, by their ids. */
export const scopedField = (id: string): string => `scoped:${id}`;

/** The scoped freezes in the hash, also those that are over, oldest first. */
export const scopedIn = (hash: Record<string, string>, key: string): ScopedFreeze[] =>
  Object.entries(hash)
    .filter(([field]) => field.startsWith(scopedField('')))
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
  (policy === undefined || policy === subject.name) &&
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
