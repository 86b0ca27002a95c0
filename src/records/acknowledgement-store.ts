/**
 * Which open findings people have acknowledged, until when, and why. An acknowledgement is of the finding as it was
 * then: one that was resolved and comes back has a new `since`, so it is not acknowledged.
 */
import { z } from 'zod';
import { CaretakerError } from '../errors.ts';
import type { Store } from '../redis/store.ts';
import { FINDINGS_KEPT_MS, fieldOf, type KnownFinding } from './finding-indexes.ts';
import { keys } from './keys.ts';
import type { FindingPolicy } from './open-findings-store.ts';
import { parseRecord } from './parse-record.ts';

export const Acknowledgement = z.object({
  at: z.number(),
  by: z.string(),
  reason: z.string(),
  /** Missing: until the finding is resolved. */
  until: z.exactOptional(z.number()),
  /** When the first run began that saw the finding. */
  since: z.number(),
});
export type Acknowledgement = z.output<typeof Acknowledgement>;

/** All of a policy are read at once. */
export const MAX_OF_POLICY = 1_000;

/** The policy has as many acknowledged findings as are kept. */
export class TooManyAcknowledgedError extends CaretakerError {
  readonly code = 'TOO_MANY_ACKNOWLEDGED';
  constructor({ policy }: FindingPolicy) {
    super(
      `The policy ${policy} has ${MAX_OF_POLICY} acknowledged findings, and can have no more. Change its condition, so that it does not report what is accepted.`,
    );
  }
}

export class AcknowledgementStore {
  constructor(private readonly store: Store) {}

  /**
   * Acknowledges findings of a policy. `before` are those that count now: all others are forgotten.
   *
   * @throws {TooManyAcknowledgedError}
   */
  async add(
    of: FindingPolicy,
    findings: readonly KnownFinding[],
    by: Omit<Acknowledgement, 'since'>,
    before: ReadonlyMap<string, Acknowledgement>,
  ): Promise<void> {
    const fields = new Map(findings.map((one) => [fieldOf(one), one.since]));
    if (new Set([...before.keys(), ...fields.keys()]).size > MAX_OF_POLICY)
      throw new TooManyAcknowledgedError(of);
    const key = keys.acknowledged(of.account, of.policy);
    const known = await this.store.hkeys(key);
    const gone = known.filter((field) => !before.has(field));
    const changing = this.store.multi();
    if (gone.length > 0) changing.hdel(key, ...gone);
    for (const [field, since] of fields) changing.hset(key, field, JSON.stringify({ ...by, since }));
    changing.pexpire(key, FINDINGS_KEPT_MS);
    await changing.exec();
  }

  /** Ends acknowledgements before their time. */
  async end({ account, policy }: FindingPolicy, findings: readonly KnownFinding[]): Promise<void> {
    if (findings.length > 0)
      await this.store.hdel(keys.acknowledged(account, policy), ...findings.map(fieldOf));
  }

  /** Those of a policy that have not ended, by the fields of their findings, which may be resolved meanwhile. */
  async of({ account, policy }: FindingPolicy, now: number): Promise<Map<string, Acknowledgement>> {
    const key = keys.acknowledged(account, policy);
    const found = new Map<string, Acknowledgement>();
    for (const [field, json] of Object.entries(await this.store.hgetall(key))) {
      const one = parseRecord(Acknowledgement, json, key);
      if (one.until === undefined || one.until > now) found.set(field, one);
    }
    return found;
  }
}
