/**
 * What each receiver was notified of: one hash a policy or account, with a field for each kind of problem and receiver.
 * It changes only together with the taking of a notice (`notice-store.ts`), so that several processes, or one that
 * dies, neither lose a message nor repeat it.
 */
import { z } from 'zod';
import type { Store } from '../redis/store.ts';
import { keys } from './keys.ts';
import { parseRecord } from './parse-record.ts';

const { exactOptional: optional } = z;

/** A problem that is not over. */
export const Problem = z.object({
  /** How often it occurred, and when first. */
  count: z.number(),
  since: z.number(),
  /** What the receiver knows of it: statuses and reasons. */
  told: z.array(z.string()).default([]),
  /** When the receiver was notified last. Missing: not yet. */
  toldAt: optional(z.number()),
});
export type Problem = z.output<typeof Problem>;

/** `runs`: runs of a policy fail; the others are notified again only after `repeat_interval`. */
export type ProblemKind = 'runs' | 'skipped' | 'deadline' | 'missed' | 'blocked';

/** A change of a problem, which is applied only while it is as it was read. */
export interface ProblemChange {
  key: string;
  field: string;
  /** As stored; '' for none. */
  before: string;
  after: string;
}

/** The problems of a policy or account as they were read. */
export interface KnownProblems {
  of(kind: ProblemKind, to: string): Problem | undefined;
  /** All of one kind, by receiver. */
  all(kind: ProblemKind): Map<string, Problem>;
  /** The change to `problem`; without one, it is over. */
  change(kind: ProblemKind, to: string, problem: Problem | undefined): ProblemChange;
}

/** A policy that no longer runs is forgotten after this time. */
export const PROBLEMS_KEPT_MS = 400 * 86_400_000;

export class ProblemStore {
  constructor(private readonly store: Store) {}

  ofPolicy(policy: string): Promise<KnownProblems> {
    return this.read(keys.problemsOfPolicy(policy));
  }

  ofAccount(account: string): Promise<KnownProblems> {
    return this.read(keys.problemsOfAccount(account));
  }

  private async read(key: string): Promise<KnownProblems> {
    const hash = await this.store.hgetall(key);
    // Not only what is there: a field of the name `__proto__` is none.
    const textOf = (field: string) => (Object.hasOwn(hash, field) ? (hash[field] ?? '') : '');
    const parse = (field: string): Problem | undefined =>
      textOf(field) === '' ? undefined : parseRecord(Problem, textOf(field), key);
    return {
      of: (kind, to) => parse(`${kind} ${to}`),
      all: (kind) =>
        new Map(
          Object.keys(hash).flatMap((field) => {
            const [is, to = ''] = field.split(' ');
            const problem = is === kind ? parse(field) : undefined;
            return problem ? [[to, problem] as const] : [];
          }),
        ),
      change: (kind, to, problem) => ({
        key,
        field: `${kind} ${to}`,
        before: textOf(`${kind} ${to}`),
        after: problem ? JSON.stringify(problem) : '',
      }),
    };
  }
}
