// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how variables are written in config files.
import { expect, test } from 'vitest';
import { accountOf } from '../../src/settings/account.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { folderWith } from './folder.ts';

const load = (text: string, env: Record<string, string> = {}) =>
  loadSettings({ cwd: folderWith({ 'config/caretaker.yaml': text }), env });

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

test('for a missing token, the variable and the key to set are named', () => {
  const settings = loadSettings({
    cwd: folderWith({ 'config/caretaker.yaml': '' }),
    env: { CARETAKER_BASE_URL: 'https://x.example/api/v6' },
  });
  expect(() => accountOf(settings, 'default')).toThrow(
    'The account "default" has no token: set CARETAKER_API_TOKEN, or accounts.default.token in ',
  );
});

test('a variable that is set but empty counts as missing', () => {
  const settings = load('accounts: { b: { base_url: "https://x.example/api/v6", token: "${B_TOKEN}" } }\n', {
    B_TOKEN: '',
  });
  expect(() => accountOf(settings, 'b')).toThrow(
    'The account "b" has no token: set B_TOKEN, or accounts.b.token in ',
  );
});

test('for an empty account, the keys to set are named', () => {
  expect(() => accountOf(load('accounts: { b: {} }\n'), 'b')).toThrow(
    'The account "b" has no base URL and no token: set accounts.b.base_url and accounts.b.token in ',
  );
});

test('for an unknown account, a similar name is suggested', () => {
  expect(() => accountOf(load(''), 'defualt')).toThrow(
    /There is no account "defualt" in .*; did you mean default\?$/,
  );
});
