/** Who may sign in, as the configuration says (`access:`). No I/O. */
import { z } from 'zod';
import { hashToken } from './credentials.ts';
import { adminPrincipal, type Grant, type Principal } from './principal.ts';

/** A person. At least one of the three ways to sign in is set. */
export interface User {
  name: string;
  passwordHash?: string;
  /** The subject (`sub`) at the OIDC issuer. */
  oidcSubject?: string;
  /** An address that the OIDC issuer has verified; in lower case. */
  oidcEmail?: string;
  grants: readonly Grant[];
}

/** A program. */
export interface Token {
  name: string;
  /** As `hashToken` gives it. */
  hash: string;
  grants: readonly Grant[];
}

/** People whose claim has this value, or has it in its list, get the grants. */
export interface ClaimGrant {
  /** `groups`, or with dots for a claim in a claim: `realm_access.roles`. */
  claim: string;
  value: string;
  grants: readonly Grant[];
}

/** Where people sign in by OpenID Connect. */
export interface Oidc {
  issuer: string;
  clientId: string;
  clientSecret?: string;
  scopes: readonly string[];
  claims: readonly ClaimGrant[];
}

export interface Access {
  users: readonly User[];
  tokens: readonly Token[];
  oidc?: Oidc;
  /** When sessions of people end: after so long without a request, and after so long in any case. */
  sessions: { idleMs: number; maxMs: number };
  /** Addresses and networks (CIDR) of the proxies whose headers are believed. */
  trustedProxies: readonly string[];
}

export const noAccess: Access = {
  users: [],
  tokens: [],
  sessions: { idleMs: 12 * 3_600_000, maxMs: 7 * 86_400_000 },
  trustedProxies: [],
};

/** What an OIDC issuer says about a person. */
const Claims = z.looseObject({ sub: z.string() });
export type Claims = Readonly<z.output<typeof Claims>>;

/** How a person signed in. A session keeps it, so that changed settings apply to its next request. */
export const Identity = z.discriminatedUnion('by', [
  /** With the single password of the dashboard or with a link. */
  z.object({ by: z.literal('dashboard') }),
  z.object({ by: z.literal('password'), user: z.string(), hash: z.string() }),
  /** `idToken` ends the session at the issuer, too. A stored session has it sealed with its id. */
  z.object({ by: z.literal('oidc'), issuer: z.string(), claims: Claims, idToken: z.string() }),
]);
export type Identity = z.output<typeof Identity>;

/** Who this is by the current settings; undefined when the person has no access any more. */
export function principalBy(identity: Identity, access: Access): Principal | undefined {
  switch (identity.by) {
    case 'dashboard':
      return adminPrincipal;
    case 'password': {
      const user = access.users.find(({ name }) => name === identity.user);
      return user?.passwordHash === identity.hash ? principalOf(user) : undefined;
    }
    case 'oidc':
      return access.oidc?.issuer === identity.issuer ? byClaims(identity.claims, access) : undefined;
  }
}

/** The program with this token. */
export function programWith(token: string, { tokens }: Access): Principal | undefined {
  const hash = hashToken(token);
  const found = tokens.find((one) => one.hash === hash);
  return found && { kind: 'token', name: found.name, grants: found.grants };
}

/** A user that the settings name, else the roles of all matching claims, else no one. */
function byClaims(claims: Claims, { users, oidc }: Access): Principal | undefined {
  const email = verifiedEmail(claims);
  const user =
    users.find(({ oidcSubject }) => oidcSubject === claims.sub) ??
    users.find(({ oidcEmail }) => oidcEmail !== undefined && oidcEmail === email);
  if (user) return principalOf(user);
  const grants = (oidc?.claims ?? []).flatMap((one) =>
    hasValue(claimAt(claims, one.claim), one.value) ? one.grants : [],
  );
  // Names of users in the settings have neither "@" nor ":", so no one can take one.
  return grants.length === 0 ? undefined : { kind: 'user', name: email ?? `oidc:${claims.sub}`, grants };
}

const principalOf = ({ name, grants }: User): Principal => ({ kind: 'user', name, grants });

/** Without the issuer's word anyone could claim the address of someone else. */
const verifiedEmail = ({ email, email_verified }: Claims): string | undefined =>
  typeof email === 'string' && email.includes('@') && email_verified === true
    ? email.toLowerCase()
    : undefined;

function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let at: unknown = claims;
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

const hasValue = (claim: unknown, value: string): boolean =>
  Array.isArray(claim) ? claim.includes(value) : claim === value;
