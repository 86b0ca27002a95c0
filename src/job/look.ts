/**
 * What planning saw of rings of sites, for people to look at; and what people decided about the rings. A job with rings
 * gives the first (`Job.look`) and reads the second under a key of `Once`.
 */
import { z } from 'zod';
import type { Finding } from '../run/run.ts';

const time = z.iso.datetime();
const count = z.int().min(0);
const broken = z.object({ site: z.string(), label: z.string(), why: z.string() });

const Standing = z.object({
  item: z.string().describe('`core`, `plugin shop/shop.php` or `theme storefront`.'),
  version: z.string(),
  is: z.enum(['proven', 'waiting', 'doubted', 'quarantined']),
  at: time.nullable().describe('Since when it is proven, or when its soak is over.'),
  why: z.string(),
  taken: count.describe('The sites of this ring and those before it that took it.'),
  broke: count.describe('Those of them that broke.'),
});

export const Ring = z.object({
  name: z.string(),
  sites: count,
  is: z.enum(['run', 'promote', 'wait', 'hold']).describe('What the ring does.'),
  why: z.array(z.string()).describe('What it waits for, what it leaves out; a sentence each.'),
  schedule: z
    .object({ id: z.string(), status: z.string(), next_run_at: time.nullable() })
    .nullable()
    .describe('Its schedule in the service; null before it was made.'),
  last_run: z.object({ at: time, status: z.string(), task: z.string(), sites: count }).nullable(),
  broken: z.array(broken).describe('The sites that broke after its updates, and are not well again.'),
  versions: z.array(Standing).describe('The last version of each item, those that are not proven first.'),
});
export type Ring = z.output<typeof Ring>;

export const Suspect = z.object({
  item: z.string(),
  version: z.string(),
  taken: count,
  broken: z.array(broken),
  chance: z.number().describe('How probable as many broken sites are by chance, from 0 to 1.'),
});

/** The rings, the first to be updated first. */
export const Rings = z.object({
  rings: z.array(Ring),
  suspects: z.array(Suspect),
  unwell: z
    .record(z.string(), time)
    .describe(
      'The sites that were not well, since when they are known to be. What broke before an update is no evidence.',
    ),
});
export type Rings = z.output<typeof Rings>;

/** What is shown of a site: its ring, and the last versions that it took, newest first. */
export const SiteInRing = z.object({
  ring: z.string(),
  took: z.array(z.object({ item: z.string(), version: z.string(), at: time, broke: z.string().nullable() })),
});
export type SiteInRing = z.output<typeof SiteInRing>;

export interface Look {
  rings: Rings;
  /** By the id of the site. */
  sites: ReadonlyMap<string, SiteInRing>;
}

/** What the run that looked last saw; of another policy or process alike. */
export interface Looks {
  last(): Promise<Rings | undefined>;
  /** Replaces it. */
  keep(look: Look): Promise<void>;
}

const Decided = z.object({ by: z.string(), at: z.number(), reason: z.exactOptional(z.string()) });
export type Decided = z.output<typeof Decided>;

/** What people decided about the rings of a policy. */
export const RingDecisions = z.object({
  /** By ring: it is not updated until a person ends this. */
  holds: z.record(z.string(), Decided),
  /** By item: this version is neither held nor suspect. */
  released: z.record(z.string(), Decided.extend({ version: z.string() })),
});
export type RingDecisions = z.output<typeof RingDecisions>;

/** The key of `Once` under which they are recorded. */
export const decisionsKey = (policy: string): string => `rings ${policy} decisions`;

export const decisionsIn = (result: string | undefined): RingDecisions =>
  result === undefined ? { holds: {}, released: {} } : RingDecisions.parse(JSON.parse(result));

/** What another policy of the account found, as our records know it. Costs no request. */
export type FindingsOf = (policy: string) => Promise<Checked>;
export interface Checked {
  /** When its last run over all that it selects began; missing when none is known. */
  at?: number;
  /** The sites about which that run came to no conclusion. */
  unknown: ReadonlySet<string>;
  /** Its open findings. */
  open: readonly OpenFinding[];
}
export interface OpenFinding extends Pick<Finding, 'severity' | 'message'> {
  target: string;
  /** The site that it is on; missing where it is the target itself. */
  site?: string;
  /** When the run began that saw it first. */
  since: number;
}
