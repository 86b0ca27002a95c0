import { expect, test } from 'vitest';
import {
  hashPassword,
  hashToken,
  isPasswordHash,
  isPasswordOf,
  isTokenHash,
  NOBODYS_HASH,
  newToken,
  seal,
  unseal,
} from '../../src/access/credentials.ts';

test('a hash accepts its password only, and two hashes of one password differ', async () => {
  const [one, other] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')]);

  expect(one).not.toBe(other);
  expect(one).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$/);
  expect(await isPasswordOf(one, 'correct horse')).toBe(true);
  expect(await isPasswordOf(other, 'correct horse')).toBe(true);
  expect(await isPasswordOf(one, 'correct horsf')).toBe(false);
  expect(await isPasswordOf(NOBODYS_HASH, '')).toBe(false);
});

test('a character that can be typed in two ways is the same in a password', async () => {
  expect(
    await isPasswordOf(await hashPassword('K\u00e4sekuchen am Montag'), 'Ka\u0308sekuchen am Montag'),
  ).toBe(true);
});

test('a hash whose check would need too much memory or time is not accepted', () => {
  const hash = (cost: string) => `$scrypt$${cost}$${'A'.repeat(22)}$${'A'.repeat(43)}`;
  expect(isPasswordHash(hash('ln=15,r=8,p=3'))).toBe(true);
  expect(isPasswordHash(NOBODYS_HASH)).toBe(true);
  for (const cost of ['ln=18,r=8,p=1', 'ln=15,r=64,p=1', 'ln=15,r=8,p=99', 'ln=1,r=8,p=1', 'ln=15,r=0,p=1'])
    expect(isPasswordHash(hash(cost)), cost).toBe(false);
  expect(isPasswordHash('correct horse')).toBe(false);
});

test('tokens are random, and only their hash is stored', () => {
  const [one, other] = [newToken(), newToken()];
  expect(one).not.toBe(other);
  expect(isTokenHash(hashToken(one))).toBe(true);
  expect(isTokenHash(one)).toBe(false);
});

test('what was sealed with an id is read with this id alone, and only as it was', () => {
  const sealed = seal('the id token of Ana', 'id-1');
  const altered = `${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`;

  expect(unseal(sealed, 'id-1')).toBe('the id token of Ana');
  expect(seal('the id token of Ana', 'id-1')).not.toBe(sealed);
  for (const [text, id] of [
    [sealed, 'id-2'],
    [altered, 'id-1'],
    [sealed.slice(0, 20), 'id-1'],
    ['', 'id-1'],
  ] as const)
    expect(unseal(text, id), text).toBeUndefined();
});
