/** The keys under `access:` in `config/caretaker.yaml`. */
import { isIP } from 'node:net';
import { z } from 'zod';
import type { Access } from '../access/access.ts';
import { hashToken, isPasswordHash, isTokenHash, MIN_TOKEN } from '../access/credentials.ts';
import { type Grant, roles } from '../access/principal.ts';
import { defined } from '../defined.ts';
import { keepSecret } from '../secrets.ts';
import { duration } from '../yaml/duration.ts';
import { isLoopback } from './settings.ts';

/** A name of an account, a receiver of notifications, a policy, a user or a token. */
export const name = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    'must be a name of lowercase letters, digits and hyphens, up to 63 characters',
  );

const RoleName = z.enum(roles);

const GrantOf = z
  .union(
    [
      RoleName,
      z.strictObject({
        role: RoleName.describe('The role.'),
        policies: z.optional(z.array(name).min(1)).describe('Only for these policies. Default all.'),
        accounts: z.optional(z.array(name).min(1)).describe('Only for these accounts. Default all.'),
      }),
    ],
    {
      error: `must be ${roles.join(', ')}, or a role with limits: { role: ..., policies: [...], accounts: [...] }`,
    },
  )
  .transform(
    (grant): Grant =>
      typeof grant === 'string'
        ? { role: grant }
        : {
            role: grant.role,
            ...(grant.policies ? { policies: grant.policies } : {}),
            ...(grant.accounts ? { accounts: grant.accounts } : {}),
          },
  );
const grants = z.array(GrantOf).min(1);
const rolesText = 'Roles: viewer, operator, approver, admin; limited with { role, policies, accounts }.';

const UserOf = z
  .strictObject({
    password_hash: z
      .optional(
        z.string().refine(isPasswordHash, {
          error: 'must be a hash that "caretaker user add" or "caretaker user passwd" prints',
        }),
      )
      .describe(
        'Hash of the password, from `caretaker user passwd`. Default: cannot sign in with a password.',
      ),
    oidc_subject: z.optional(z.string().min(1)).describe('Subject (`sub`) at the OIDC issuer. Default none.'),
    oidc_email: z
      .optional(z.email('must be an email address'))
      .describe('Email address that the OIDC issuer has verified. Default none.'),
    roles: grants.describe(rolesText),
  })
  .superRefine(({ password_hash, oidc_subject, oidc_email }, context) => {
    if (password_hash ?? oidc_subject ?? oidc_email) return;
    const missing = ['password_hash', 'oidc_subject', 'oidc_email'];
    const message = 'needs a way to sign in: password_hash, oidc_subject or oidc_email';
    context.addIssue({ code: 'custom', message, params: { missing } });
  });

const TokenOf = z
  .strictObject({
    hash: z
      .optional(
        z.string().refine(isTokenHash, { error: 'must be a hash that "caretaker user token" prints' }),
      )
      .describe('Hash of the token, from `caretaker user token`. Either this or "token" is required.'),
    token: z.optional(z.string()).describe(`The token, at least ${MIN_TOKEN} characters; use a variable.`),
    roles: grants.describe(rolesText),
  })
  .superRefine(({ hash, token }, context) => {
    const text = token?.trim();
    keepSecret(text);
    if ((hash === undefined) === (text === undefined)) {
      const message = 'needs either "hash" or "token"';
      context.addIssue({ code: 'custom', message, params: { missing: ['hash', 'token'] } });
    } else if (text !== undefined && text.length < MIN_TOKEN) {
      const message = `must have at least ${MIN_TOKEN} characters: "caretaker user token" makes one`;
      context.addIssue({ code: 'custom', path: ['token'], message });
    }
  });

const issuer = z.string().superRefine((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url?.protocol === 'https:' ||
    (url?.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[|\]$/g, '')))
  )
    return;
  context.addIssue({ code: 'custom', message: 'must be an https:// address (http:// only on this machine)' });
});

const OidcOf = z.strictObject({
  issuer: issuer.describe(
    'Address of the issuer: https://login.example.com. Its configuration is read when a user signs in.',
  ),
  client_id: z.string().min(1).describe('Id of Caretaker at the issuer.'),
  client_secret: z
    .optional(z.string())
    .describe('Secret of Caretaker at the issuer; use a variable. Default none: a public client.'),
  scopes: z
    .array(z.string().regex(/^\S+$/, 'must be a scope without spaces'))
    .default(['openid', 'profile', 'email'])
    .describe('Requested scopes; openid is always requested. Default openid, profile, email.'),
  claims: z
    .array(
      z.strictObject({
        claim: z.string().min(1).describe('Name of a claim, such as groups or realm_access.roles.'),
        value: z.string().min(1).describe('The value, or one of the values if the claim is a list.'),
        roles: grants.describe(`Roles of people who have it. ${rolesText}`),
      }),
    )
    .default([])
    .describe('Roles of people who are not named under users, by claims of the issuer. Default none.'),
});

const proxy = z.string().superRefine((text, context) => {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  if (version !== 0 && Number(bits ?? 0) <= (version === 4 ? 32 : 128)) return;
  context.addIssue({ code: 'custom', message: 'must be an IP address or a network such as 10.0.0.0/8' });
});

export const AccessFile = z.strictObject({
  users: z
    .record(name, UserOf)
    .prefault({})
    .describe('People by name. Default none: the password of the dashboard, or a sign-in link.'),
  tokens: z.record(name, TokenOf).prefault({}).describe('Programs by name. Default none.'),
  oidc: z.optional(OidcOf).describe('Sign-in by OpenID Connect. Default none.'),
  sessions: z
    .strictObject({
      idle: duration(300_000)
        .prefault('12h')
        .describe('A session ends when its user has opened no page for this time. Default 12h.'),
      max_age: duration(300_000)
        .prefault('7d')
        .describe('A session ends this long after its sign-in in any case. Default 7d.'),
    })
    .prefault({})
    .describe('When people have to sign in again.'),
  trusted_proxies: z
    .array(proxy)
    .prefault([])
    .describe(
      'Addresses and networks of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed. Default none.',
    ),
});
export type AccessFile = z.output<typeof AccessFile>;

/** The settings that the file describes. */
export function accessOf({ users, tokens, oidc, sessions, trusted_proxies }: AccessFile): Access {
  const secret = oidc?.client_secret?.trim() || undefined;
  keepSecret(secret);
  return {
    users: Object.entries(users).map(([userName, user]) => ({
      name: userName,
      ...defined({ passwordHash: user.password_hash, oidcSubject: user.oidc_subject }),
      ...(user.oidc_email === undefined ? {} : { oidcEmail: user.oidc_email.toLowerCase() }),
      grants: user.roles,
    })),
    tokens: Object.entries(tokens).map(([tokenName, { hash, token, roles: tokenGrants }]) => ({
      name: tokenName,
      hash: hash ?? hashToken(token?.trim() ?? ''),
      grants: tokenGrants,
    })),
    ...(oidc && {
      oidc: {
        issuer: oidc.issuer,
        clientId: oidc.client_id,
        ...defined({ clientSecret: secret }),
        scopes: [...new Set(['openid', ...oidc.scopes])],
        claims: oidc.claims.map(({ claim, value, roles: claimGrants }) => ({
          claim,
          value,
          grants: claimGrants,
        })),
      },
    }),
    sessions: { idleMs: sessions.idle, maxMs: sessions.max_age },
    trustedProxies: trusted_proxies,
  };
}

/** A mention of a policy or an account in the limits of a role, with its path in the file. */
interface Mention {
  path: (string | number)[];
  name: string;
}

/** All mentions of policies, or of accounts, under `access:`. */
export function mentionsIn({ users, tokens, oidc }: AccessFile, key: 'policies' | 'accounts'): Mention[] {
  const owners: [(string | number)[], readonly Grant[]][] = [
    ...Object.entries(users).map(([one, { roles: own }]): [string[], readonly Grant[]] => [
      ['users', one],
      own,
    ]),
    ...Object.entries(tokens).map(([one, { roles: own }]): [string[], readonly Grant[]] => [
      ['tokens', one],
      own,
    ]),
    ...(oidc?.claims ?? []).map(({ roles: own }, at): [(string | number)[], readonly Grant[]] => [
      ['oidc', 'claims', at],
      own,
    ]),
  ];
  return owners.flatMap(([path, own]) =>
    own.flatMap((grant, at) =>
      (grant[key] ?? []).map((mentioned, index) => ({
        path: ['access', ...path, 'roles', at, key, index],
        name: mentioned,
      })),
    ),
  );
}
