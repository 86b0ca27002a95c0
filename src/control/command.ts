/** What a command is: one thing that a person or a program can do with policies and runs. */
import type { z } from 'zod';
import type { Principal, Role, Subject } from '../access/principal.ts';
import type { Clock } from '../clock.ts';
import type { AuditLine } from '../records/audit-store.ts';
import type { Records } from '../records/records.ts';
import type { Audit } from './audit.ts';

/** Who asks for an act, and from where: an IP address, or `cli@host`. */
export interface Actor {
  principal: Principal;
  from: string;
}

/** What every command may use; each declares what else it needs. */
export interface BaseDeps {
  records: Records;
  clock: Pick<Clock, 'now'>;
  audit: Audit;
}

/** What an act concerns: decides whether it is permitted, and is shown in the audit log. */
export type ActSubject = Subject & Pick<AuditLine, 'run' | 'targets' | 'detail'>;

/** One use of a command. */
export interface Act {
  /** Unique. A repetition with the same idempotency key continues the same act. */
  id: string;
  /** When it was requested first. */
  at: number;
  by: Actor;
  /**
   * Decides something on which the effect depends, and remembers the decision, so that a repetition after a
   * crash has the same effect. The decision is JSON.
   */
  decide<T extends object>(name: string, make: () => Promise<T>): Promise<T>;
}

export interface Command<Schema extends z.ZodType, Result, Deps, Answer extends object = object> {
  /** `runs.cancel`: the code under which the audit log shows it. It never changes. */
  name: string;
  /** One sentence for documents: `Cancels a run.` */
  summary: string;
  /** The role that it needs, for its subject. */
  role: Role;
  /** Set when it only reads: then it has no line in the audit log. */
  reads?: true;
  /** Set when its input is too long for an address, although it only reads: it is sent as the body of a POST. */
  hasBody?: true;
  /** Its address under `/api/v1`: `/runs/{run}/cancel`. Names in braces are fields of the input. */
  path: string;
  /** The input, as programs send it. A field `reason` is shown in the audit log. */
  input: Schema;
  /**
   * What the act concerns. Changes nothing. Undefined: a grant with any limits is enough, and the command regards
   * only what the grants cover.
   *
   * @throws {CaretakerError} when there is no such policy or run.
   */
  subject(input: z.output<Schema>, deps: Deps & BaseDeps): ActSubject | undefined | Promise<ActSubject>;
  /**
   * Carries it out. What it throws means that nothing was changed, or that a repetition of the act has the same
   * effect as one.
   */
  carryOut(input: z.output<Schema>, deps: Deps & BaseDeps, act: Act): Promise<Result>;
  /** What the audit log shows of the result. */
  outcome?(result: Result): Pick<AuditLine, 'run' | 'targets' | 'detail'>;
  /** The answer for programs. */
  answer: z.ZodType;
  toAnswer(result: Result, input: z.output<Schema>): Answer;
}

/** A command of any kind, for lists of them. */
// biome-ignore lint/suspicious/noExplicitAny: the types of a command matter only to its callers.
export type AnyCommand = Command<any, any, any, any>;

/** How programs send it. */
export const methodOf = ({ reads, hasBody }: Pick<AnyCommand, 'reads' | 'hasBody'>): 'GET' | 'POST' =>
  reads && !hasBody ? 'GET' : 'POST';

/** Gives a command its types. `Deps` is what it needs in addition to `BaseDeps`. */
export const defineCommand =
  <Deps = unknown>() =>
  <Schema extends z.ZodType, Result, Answer extends object>(
    command: Command<Schema, Result, Deps, Answer>,
  ): Command<Schema, Result, Deps, Answer> =>
    command;
