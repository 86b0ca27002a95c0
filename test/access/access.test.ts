import { expect, test } from 'vitest';
import { type Access, type Claims, noAccess, principalBy, programWith } from '../../src/access/access.ts';
import { hashToken } from '../../src/access/credentials.ts';

const issuer = 'https://login.example';
const access: Access = {
  ...noAccess,
  users: [
    { name: 'ana', passwordHash: 'h1', oidcSubject: 'sub-ana', grants: [{ role: 'operator' }] },
    { name: 'ben', oidcEmail: 'ben@agency.example', grants: [{ role: 'viewer' }] },
  ],
  tokens: [{ name: 'ci', hash: hashToken('t0ken'), grants: [{ role: 'viewer' }] }],
  oidc: {
    issuer,
    clientId: 'c',
    scopes: ['openid'],
    claims: [
      { claim: 'groups', value: 'ops', grants: [{ role: 'operator', accounts: ['main'] }] },
      { claim: 'realm_access.roles', value: 'boss', grants: [{ role: 'admin' }] },
    ],
  },
};
const byOidc = (claims: Claims, settings = access) =>
  principalBy({ by: 'oidc', issuer, claims, idToken: '' }, settings);

test('a session of a user ends when the user is removed or gets another password', () => {
  const identity = { by: 'password', user: 'ana', hash: 'h1' } as const;

  expect(principalBy(identity, access)).toEqual({
    kind: 'user',
    name: 'ana',
    grants: [{ role: 'operator' }],
  });
  expect(principalBy({ ...identity, hash: 'h0' }, access)).toBeUndefined();
  expect(principalBy(identity, { ...access, users: [] })).toBeUndefined();
});

test('a session follows the roles of its user', () => {
  const [ana] = access.users;
  const changed = { ...access, users: ana ? [{ ...ana, grants: [{ role: 'viewer' as const }] }] : [] };

  expect(principalBy({ by: 'password', user: 'ana', hash: 'h1' }, changed)?.grants).toEqual([
    { role: 'viewer' },
  ]);
});

test('the issuer names a user by subject or by an address that it has verified', () => {
  expect(byOidc({ sub: 'sub-ana' })?.name).toBe('ana');
  expect(byOidc({ sub: 'x', email: 'Ben@Agency.example', email_verified: true })?.name).toBe('ben');
  expect(byOidc({ sub: 'x', email: 'ben@agency.example', email_verified: false })).toBeUndefined();
  expect(byOidc({ sub: 'x', email: 'ben@agency.example' })).toBeUndefined();
  expect(byOidc({ sub: 'x', email: 'ben@agency.example', email_verified: 'true' })).toBeUndefined();
});

test('claims give roles, also from lists and from claims in claims', () => {
  expect(byOidc({ sub: 'x', groups: ['ops', 'others'] })).toEqual({
    kind: 'user',
    name: 'oidc:x',
    grants: [{ role: 'operator', accounts: ['main'] }],
  });
  expect(byOidc({ sub: 'x', realm_access: { roles: ['boss'] } })?.grants).toEqual([{ role: 'admin' }]);
  expect(byOidc({ sub: 'x', groups: 'ops-2' })).toBeUndefined();
  expect(byOidc({ sub: 'x', groups: { ops: true } })).toBeUndefined();
});

test('nobody can take the name of a user by a claim', () => {
  const claims = { sub: 'ana', preferred_username: 'ana', name: 'ana', groups: ['ops'] };
  expect(byOidc(claims)?.name).toBe('oidc:ana');
});

test('a session of another issuer, or of an issuer that was removed, ends', () => {
  const { oidc, ...without } = access;
  expect(byOidc({ sub: 'sub-ana' }, without)).toBeUndefined();
  expect(
    oidc && byOidc({ sub: 'sub-ana' }, { ...access, oidc: { ...oidc, issuer: 'https://other.example' } }),
  ).toBeUndefined();
});

test('a program is known by its token', () => {
  expect(programWith('t0ken', access)).toEqual({ kind: 'token', name: 'ci', grants: [{ role: 'viewer' }] });
  expect(programWith('t0kem', access)).toBeUndefined();
  expect(programWith('', access)).toBeUndefined();
});
