import { describe, expect, test } from 'vitest';
import { keepSecret, redact, scrub, scrubForeign, secretKeys } from '../src/secrets.ts';

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

test.each(['secret', 'wrong', 'account', 'Token', '2026'])(
  'the token "%s" is hidden in texts from elsewhere, and is a word in ours',
  (token) => {
    keepSecret(token);
    const ours = `without ${token}s, the ${token} of 2026`;
    expect(scrub(ours)).toBe(ours);
    expect(scrubForeign(`You sent ${token}, not x${token}.`)).toBe(`You sent [hidden], not x${token}.`);
  },
);

describe('texts', () => {
  test.each([
    ['redis://user:pass@host:6379/0', 'redis://user:[hidden]@host:6379/0'],
    ['redis://:pass@host', 'redis://:[hidden]@host'],
    ['https://ghp_1234@github.example/x', 'https://[hidden]@github.example/x'],
    ['to=https%3A%2F%2Fu%3Ap%40a.example', 'to=https%3A%2F%2F[hidden]%40a.example'],
    ['rediss://u:p@ss@host', 'rediss://u:[hidden]@host'],
    ['redis://:a@b/c@host:6379', 'redis://:[hidden]@host:6379'],
    ['redis://u:a/b@c/d@host/1', 'redis://u:[hidden]@host/1'],
    ['(redis://:12/34@host)', '(redis://:[hidden]@host)'],
    ['amqp://u:p#1@x@host', 'amqp://u:[hidden]@host'],
    ['https://u:pa/ss@a.example/x', 'https://u:[hidden]@a.example/x'],
    [
      'at https://u:p@a.example and https://v:q@b.example',
      'at https://u:[hidden]@a.example and https://v:[hidden]@b.example',
    ],
  ])('%s loses its password', (text, shown) => {
    expect(scrub(text)).toBe(shown);
  });

  test.each([
    ['sent Authorization: Bearer abc.DEF-123_456 twice', 'sent Authorization: Bearer [hidden] twice'],
    ['Basic dXNlcjpwYXNz was refused', 'Basic [hidden] was refused'],
    ['Proxy-Authorization: Basic YTpi', 'Proxy-Authorization: Basic [hidden]'],
    ['Digest username="bob", realm="x", response="6629fae4" failed', 'Digest [hidden] failed'],
    ['AWS4-HMAC-SHA256 Credential=AKID/2026, Signature=fe5f80f7', 'AWS4-HMAC-SHA256 [hidden]'],
    ['Negotiate YIIJvwYGKwYBBQUCoIIJszCCCa', 'Negotiate [hidden]'],
    ['Token 9944b09199c62bcf9418', 'Token [hidden]'],
    ['Authorization: Unheard-Of s3cr3t-of-it', 'Authorization: Unheard-Of [hidden]'],
    ['Set-Cookie: session=abc; path=/', 'Set-Cookie: [hidden]'],
  ])('lose the credentials of any authorization scheme: %s', (text, clean) => {
    expect(scrub(text)).toBe(clean);
  });

  test.each([
    ['{"user":"bob","password":"hun\\"ter2","id":1}', '{"user":"bob","password":"[hidden]","id":1}'],
    ['{"password": 12345, "id": 1}', '{"password": [hidden], "id": 1}'],
    ['{"token":null,"id":1}', '{"token":null,"id":1}'],
    ['{"m":"{\\"api_key\\":\\"abc\\"}"}', '{"m":"{\\"api_key\\":\\"[hidden]\\"}"}'],
    ['{"credentials":{"server":{"host":"h"}},"id":1}', '{"credentials":[hidden],"id":1}'],
    ['the answer was {"password":"cut off in the mid', 'the answer was {"password":"[hidden]'],
    ["array('db_password' => 'hunter2')", "array('db_password' => '[hidden]')"],
    ['<password>hunter2</password>', '<password>[hidden]</password>'],
    ['{&quot;password&quot;:&quot;hunter2&quot;}', '{&quot;password&quot;:&quot;[hidden]&quot;}'],
    ['user=bob&password=hunter2&x=1', 'user=bob&password=[hidden]&x=1'],
    ['DB_PASSWORD = hunter2', 'DB_PASSWORD = [hidden]'],
    ['login failed (password: hunter2)', 'login failed (password: [hidden])'],
    ['password: swordfish', 'password: [hidden]'],
    ['X-Api-Key: 8f2f0a', 'X-Api-Key: [hidden]'],
  ])('lose what stands behind the name of a secret: %s', (text, clean) => {
    expect(scrub(text)).toBe(clean);
  });

  test.each([
    ['https://a.example/login?user=bob&sso=abcdef#top', 'https://a.example/login?user=bob&sso=[hidden]#top'],
    ['https://a.example/?access_token=abc&x=1', 'https://a.example/?access_token=[hidden]&x=1'],
    ['https://a.example/?X-Amz-Signature=ab12', 'https://a.example/?X-Amz-Signature=[hidden]'],
    [
      '?to=https%3A%2F%2Fa.example%2F%3Fsso%3Dabc%26b%3D1',
      '?to=https%3A%2F%2Fa.example%2F%3Fsso%3D[hidden]%26b%3D1',
    ],
  ])('lose the secret parameters of a URL: %s', (text, clean) => {
    expect(scrub(text)).toBe(clean);
  });

  test('lose PEM blocks, cut ones too, and JSON Web Tokens', () => {
    const block = (...lines: string[]) => lines.join('\n');
    expect(
      scrub(block('-----BEGIN RSA PRIVATE KEY-----', 'abc', '-----END RSA PRIVATE KEY-----', 'after')),
    ).toBe(block('-----BEGIN RSA PRIVATE KEY-----[hidden]-----END RSA PRIVATE KEY-----', 'after'));
    expect(scrub(block('-----BEGIN PRIVATE KEY-----', 'abc'))).toBe('-----BEGIN PRIVATE KEY-----[hidden]');
    expect(scrub('got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_def back')).toBe('got [hidden] back');
  });

  test.each([
    'The password is too short.',
    'Password: must have at least 12 characters.',
    'password: is too short',
    'token: expired',
    "Access denied for user 'wp'@'localhost' (using password: YES)",
    'Your token has expired: sign in again.',
    'Invalid credentials: check the name and the password.',
    'The account refuses our token (HTTP 401): check its token.',
    'Basic authentication failed',
    'Bearer authentication is required',
    'Basic settings of the site',
    'Cookie: blocked by the browser',
    `Unexpected token '<', "<!DOCTYPE "... is not valid JSON`,
    `token: \${CARETAKER_API_TOKEN}`,
    'put CARETAKER_API_TOKEN=... into the file .env',
  ])('stay readable where they only speak of secrets: %s', (text) => {
    expect(scrub(text)).toBe(text);
  });

  test('that were scrubbed once are not changed by being scrubbed again', () => {
    for (const text of ['password: hunter2', 'Basic dXNlcjpwYXNz', 'https://u:p@h/?sso=x', '"token":"x"']) {
      expect(scrub(scrub(text))).toBe(scrub(text));
    }
  });

  test('of any size and kind take no longer than their length explains', () => {
    const units = [
      ...[
        'a',
        '"',
        '\\',
        ' ',
        '/',
        '&',
        'password ',
        'password:',
        'password: ',
        'password="',
        'password:\\"',
      ],
      ...['password:{', 'Basic ', 'Basic a=b,', 'Digest a="', 'Bearer a', 'a://', 'a://b:', 'https://a:b'],
      ...[
        '-----BEGIN X-----',
        'eyJ-',
        'eyJaaaaaaaa.',
        '&a-',
        '&sso=',
        '%3A%2F%2F',
        'cookie: a=b;',
        'authorization: ',
      ],
    ];
    for (const unit of units) {
      for (const before of ['', 'password: ', 'Basic ', 'https://a:']) {
        const text = before + unit.repeat(100_000 / unit.length);
        const started = process.cpuUsage();
        scrub(text);
        // Anything that is not linear takes a hundred times as long.
        expect(process.cpuUsage(started).user / 1_000, `${before}${unit}`).toBeLessThan(1_000);
      }
    }
  });

  test('without a secret stay as they are', () => {
    for (const text of [
      'http://host:80/a@b',
      'redis://host:6379/1 of a@b',
      'Bearer of bad news',
      'mail me@x.example: now',
      '12:30@noon',
    ]) {
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
