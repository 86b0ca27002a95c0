/** Who acts: a person or a program, and what its roles allow. No I/O. */

/**
 * What a principal may do. A viewer reads. An operator reads, starts and stops runs, pauses and freezes. An
 * approver reads, and approves or rejects runs. An admin may do everything.
 */
export const roles = ['viewer', 'operator', 'approver', 'admin'] as const;
export type Role = (typeof roles)[number];

/** A role, for all policies and accounts or for some of them. */
export interface Grant {
  role: Role;
  /** Names of policies; missing: all. */
  policies?: readonly string[];
  /** Names of accounts; missing: all. */
  accounts?: readonly string[];
}

/** A person or program that acts, as the audit log names it. */
export interface Principal {
  /**
   * `user` and `token`: from `access:` in the configuration. `local`: who runs a command with access to Redis.
   * `daemon`: Caretaker itself, such as the scheduler.
   */
  kind: 'user' | 'token' | 'local' | 'daemon';
  /** Unique among principals of the same kind. */
  name: string;
  grants: readonly Grant[];
}

/** What an act concerns. Without a policy or account it concerns all of them. */
export interface Subject {
  policy?: string | undefined;
  account?: string | undefined;
}

/**
 * Whether one grant of the principal has the role and covers the subject. Every role includes `viewer`; `admin`
 * includes every role. A grant that is limited does not cover an act that concerns everything.
 */
export const isPermitted = ({ grants }: Principal, role: Role, subject: Subject = {}): boolean =>
  grants.some(
    (grant) =>
      includes(grant, role) &&
      covers(grant.policies, subject.policy) &&
      covers(grant.accounts, subject.account),
  );

/** Whether any grant of the principal has the role, whatever its limits. */
export const holds = ({ grants }: Principal, role: Role): boolean =>
  grants.some((grant) => includes(grant, role));

/** The policies whose runs are seen, where every grant names some: then these are found by policy. */
export const namedPolicies = ({ grants }: Principal): string[] | undefined =>
  grants.every(({ policies }) => policies !== undefined)
    ? [...new Set(grants.flatMap(({ policies = [] }) => policies))]
    : undefined;

const includes = (grant: Grant, role: Role): boolean =>
  grant.role === role || grant.role === 'admin' || role === 'viewer';

const covers = (limit: readonly string[] | undefined, name: string | undefined): boolean =>
  limit === undefined || (name !== undefined && limit.includes(name));

const everything: readonly Grant[] = [{ role: 'admin' }];

/** Who runs a command on a machine with access to Redis: may do everything. */
export const localPrincipal = (name: string): Principal => ({ kind: 'local', name, grants: everything });

/** Who signs in with the single password of the dashboard or with a link: may do everything. */
export const adminPrincipal: Principal = { kind: 'user', name: 'admin', grants: everything };

/** Caretaker itself. */
export const daemonPrincipal: Principal = { kind: 'daemon', name: 'caretaker', grants: everything };
