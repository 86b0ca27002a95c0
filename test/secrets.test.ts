import { describe, expect, test } from 'vitest';
import { keepSecret, redact, scrub, secretKeys } from '../src/secrets.ts';

describe('what stands under a secret key', () => {
  test.each(secretKeys)('%s is hidden, however deep it lies', (key) => {
    const shown = redact({ sites: [{ deep: { [key]: 'x' } }] });
    expect(shown).toEqual({ sites: [{ deep: { [key]: '[hidden]' } }] });
  });

  test('is hidden however the key is written, and whatever stands before it', () => {
    const keys = [
      'Authorization',
      'set-cookie',
      'apiToken',
      'X-Auth-Token',
      'CLIENT_SECRET',
      'httpAuth',
      'Passwords',
    ];
    const shown = redact(Object.fromEntries(keys.map((key) => [key, 'x'])));
    expect(shown).toEqual(Object.fromEntries(keys.map((key) => [key, '[hidden]'])));
  });

  test('is hidden whole, as the credentials of a staging site are', () => {
    const site = { credentials: { server: { host: 'h', password: 'x' }, database: { port: 1 } }, url: 'u' };
    expect(redact(site)).toEqual({ credentials: '[hidden]', url: 'u' });
  });

  test('shows that there is nothing to hide', () => {
    expect(redact({ token: null, password: undefined })).toEqual({ token: null, password: undefined });
  });

  test('leaves keys alone that only look alike', () => {
    const facts = { tokenizer: 'a', passwordless: true, cookies_left: 1, monkey: 'b', keyboard: 'c' };
    expect(redact(facts)).toEqual(facts);
  });
});

describe('a secret value of this process', () => {
  test('is replaced wherever it stands: in texts, keys, lists, errors and addresses', () => {
    keepSecret('open-sesame');
    expect(scrub('it is open-sesame, open-sesame!')).toBe('it is [hidden], [hidden]!');
    expect(
      redact({
        list: ['open-sesame'],
        'open-sesame': 1,
        error: new TypeError('not open-sesame'),
        at: new URL('http://x.example/open-sesame'),
      }),
    ).toEqual({
      list: ['[hidden]'],
      '[hidden]': 1,
      error: 'TypeError: not [hidden]',
      at: 'http://x.example/[hidden]',
    });
  });

  test('is replaced also where it was encoded for a URL or for JSON', () => {
    keepSecret('a"b/c d');
    expect(scrub(`?t=${encodeURIComponent('a"b/c d')}`)).toBe('?t=[hidden]');
    expect(scrub(JSON.stringify({ x: 'a"b/c d' }))).toBe('{"x":"[hidden]"}');
  });

  test('leaves no end behind when another secret begins like it', () => {
    keepSecret('abcd-1234');
    keepSecret('abcd-1234-5678');
    expect(scrub('abcd-1234-5678')).toBe('[hidden]');
  });

  test('of less than four letters is refused: it would blank ordinary text', () => {
    keepSecret('the');
    keepSecret('');
    keepSecret(undefined);
    expect(scrub('the end')).toBe('the end');
  });
});

describe('texts', () => {
  test.each([
    ['redis://user:pass@host:6379/0', 'redis://user:[hidden]@host:6379/0'],
    ['redis://:pass@host', 'redis://:[hidden]@host'],
    ['rediss://u:p@ss@host', 'rediss://u:[hidden]@host'],
    [
      'at https://u:p@a.example and https://v:q@b.example',
      'at https://u:[hidden]@a.example and https://v:[hidden]@b.example',
    ],
  ])('%s loses its password', (text, shown) => {
    expect(scrub(text)).toBe(shown);
  });

  test('lose the token of an authorization header', () => {
    expect(scrub('sent Authorization: Bearer abc.DEF-123_456 twice')).toBe(
      'sent Authorization: Bearer [hidden] twice',
    );
  });

  test('without a secret stay as they are', () => {
    for (const text of ['http://host:80/a@b', 'Bearer of bad news', 'mail me@x.example: now', '12:30@noon']) {
      expect(scrub(text)).toBe(text);
    }
  });
});

describe('what is shown', () => {
  test('is a copy: the original keeps its secrets', () => {
    const original = { token: 'x', list: [{ password: 'y' }] };
    redact(original);
    expect(original).toEqual({ token: 'x', list: [{ password: 'y' }] });
  });

  test('keeps what is no secret: numbers, moments, nothing', () => {
    const facts = { n: 1, at: new Date(0), none: null, yes: true };
    expect(redact(facts)).toEqual(facts);
  });

  test('is cut off where an object holds itself', () => {
    const circle: Record<string, unknown> = {};
    circle['again'] = circle;
    expect(JSON.stringify(redact(circle))).toContain('[too deep]');
  });
});
