// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how variables are written in config files.
import { expect, test } from 'vitest';
import { accountOf } from '../../src/settings/account.ts';
import { load } from './load.ts';

test('a complete account is returned', () => {
  const settings = load('', {
    CARETAKER_BASE_URL: 'https://x.example/api/v6',
    CARETAKER_API_TOKEN: 'sesame-open',
  });
  expect(accountOf(settings, 'default')).toEqual({
    name: 'default',
    baseUrl: 'https://x.example/api/v6',
    token: 'sesame-open',
    budget: { requestsPerMinute: 200, reserve: 0.1, whenRedisIsDown: 'stop' },
  });
});

const onlyUrl = { CARETAKER_BASE_URL: 'https://x.example/api/v6' };
const emptyVariable = 'accounts: { b: { base_url: "https://x.example/api/v6", token: "${B_TOKEN}" } }\n';
test.each<[string, string, Record<string, string>, string]>([
  ['a missing token', '', onlyUrl, 'token: set CARETAKER_API_TOKEN, or accounts.default.token in '],
  ['an empty variable', emptyVariable, { B_TOKEN: '' }, 'token: set B_TOKEN, or accounts.b.token in '],
  [
    'an empty account',
    'accounts: { b: {} }\n',
    {},
    'base URL and no token: set accounts.b.base_url and accounts.b.token in ',
  ],
])('for %s, the variables and keys to set are named', (_, text, env, lacks) => {
  const name = text === '' ? 'default' : 'b';
  expect(() => accountOf(load(text, env), name)).toThrow(`The account "${name}" has no ${lacks}`);
});

test('for an unknown account, a similar name is suggested', () => {
  expect(() => accountOf(load(''), 'defualt')).toThrow(
    /There is no account "defualt" in .*; did you mean default\?$/,
  );
});
