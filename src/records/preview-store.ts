/**
 * The last plan of each policy that a person made to look at it, and the last estimate of what its run costs. They decide
 * nothing: a run makes a plan of its own. Of the lists only the first items are kept, so a plan of any fleet has some 100
 * KB at most. Both are removed after a day.
 */
import { z } from 'zod';
import { type Store, toJson } from '../redis/store.ts';
import { scrub } from '../secrets.ts';
import { keys } from './keys.ts';
import { parseRecord } from './parse-record.ts';

const KEPT_MS = 86_400_000;
/** How many items of each list are kept. */
export const MAX_LISTED = 100;
const MAX_TEXT = 300;

const { exactOptional: optional } = z;
const text = z.string();
const number = z.number();
const named = { id: text, label: text };

const StoredPreview = z.object({
  at: number,
  /** Who made it. */
  by: text,
  /** The version of the policy that was planned. */
  hash: text,
  /** The list that the candidates come from. */
  list: text,
  /** How many there are of each, whatever is listed. */
  counts: z.object({ targets: number, settled: number, excluded: number }),
  /** `does`: the operations that are sent, or why they are not known. */
  targets: z.array(z.object({ ...named, does: text })),
  /** Recorded with their outcome, without a request. */
  settled: z.array(z.object({ ...named, outcome: text, why: text })),
  excluded: z.array(z.object({ ...named, why: text })),
  /** The most frequent reasons of all that is excluded. */
  reasons: z.array(z.object({ why: text, count: number })),
  batches: z.array(z.object({ takes: text, targets: number })),
  approval: optional(
    z.object({
      why: text,
      by: z.array(text),
      expiresMs: number,
      separate: z.boolean(),
      eachBatch: z.boolean(),
    }),
  ),
  warnings: z.array(text),
  stoppedBy: optional(text),
  spreadMs: optional(number),
  /** The sites that are written to (`record:`), with the requests for it. */
  recording: optional(z.object({ sites: number, requests: number })),
  cost: z.object({
    planning: number,
    acting: number,
    following: number,
    pastRuns: number,
    atLeastMs: number,
    takesMs: number,
    runsBeside: number,
  }),
});
export type StoredPreview = z.output<typeof StoredPreview>;

/** What a run of one version of a policy costs in one account, by the number of its candidates. */
const StoredEstimate = z.object({ hash: text, account: text, requests: number });

type Version = Record<'name' | 'hash' | 'account', string>;

export class PreviewStore {
  constructor(private readonly store: Store) {}

  /** Keeps the plan in place of the last one, without secrets, its lists and texts cut. */
  async keep(policy: string, preview: StoredPreview): Promise<void> {
    await this.store.set(keys.preview(policy), toJson(bounded(preview)), 'PX', KEPT_MS);
  }

  async last(policy: string): Promise<StoredPreview | undefined> {
    const json = await this.store.get(keys.preview(policy));
    return json === null ? undefined : parseRecord(StoredPreview, json, keys.preview(policy));
  }

  async keepEstimate({ name, hash, account }: Version, requests: number): Promise<void> {
    await this.store.set(keys.estimate(name), toJson({ hash, account, requests }), 'PX', KEPT_MS);
  }

  /** The requests of a run, as they were estimated for this version of the policy within a day. */
  async estimateOf({ name, hash, account }: Version): Promise<number | undefined> {
    const json = await this.store.get(keys.estimate(name));
    if (json === null) return undefined;
    const found = parseRecord(StoredEstimate, json, keys.estimate(name));
    return found.hash === hash && found.account === account ? found.requests : undefined;
  }
}

/** The same, with at most this many items in each list and this many characters in each text. */
function bounded<T>(value: T): T;
function bounded(value: unknown): unknown {
  if (typeof value === 'string') {
    const clean = scrub(value);
    return clean.length > MAX_TEXT ? `${clean.slice(0, MAX_TEXT - 1)}…` : clean;
  }
  if (Array.isArray(value)) return value.slice(0, MAX_LISTED).map((one) => bounded(one));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, bounded(inner)]));
}
