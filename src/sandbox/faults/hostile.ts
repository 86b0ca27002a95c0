/**
 * Texts of the service that must neither reach a terminal unchanged nor be stored. All credentials are
 * invented.
 */

/** Texts that must not be found anywhere after a message with `hostileText` was received. */
export const hostileSecrets = [
  'c2l0ZTpoVW50ZXIy',
  'hunter2-in-json',
  'hunter2-in-query',
  'hunter2-in-url',
  'sso-4f1c09ab77',
  'tok-9d31e7c2aa',
  'bearer-5b6a0e91cc',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJzaXRlIn0.c2lnbmF0dXJl',
  'MIIBOgIBAAJBAKj34GkxFhD9',
] as const;

const [basic, inJson, inQuery, inUrl, sso, token, bearer, jwt, pem] = hostileSecrets;

/** Terminal escapes, bidirectional and zero-width characters, and credentials in every form. */
export const hostileText = [
  '\u001b[31mred\u001b[0m \u001b[8mhidden\u001b[0m \u001b]0;title\u0007 \u009b31m bell\u0007',
  'reversed\u202etxet zero\u200bwidth\u2066isolated\u2069\ufeff',
  `Authorization: Basic ${basic}`,
  `authorization: Bearer ${bearer}`,
  `{"username":"admin","password":"${inJson}"}`,
  `https://admin:${inUrl}@site.example/login?password=${inQuery}&sso=${sso}&token=${token}`,
  jwt,
  `-----BEGIN RSA PRIVATE KEY-----\n${pem}\n-----END RSA PRIVATE KEY-----`,
].join(' ');

/** Fields of successful answers that contain a message of the service or of a site. */
const messages = new Set(['message', 'last_sync_error', 'last_error_message']);

/** Appends the hostile text to every message in a JSON value. */
export const makeHostile = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (key, one: unknown) =>
    messages.has(key) && typeof one === 'string' ? `${one} ${hostileText}` : one,
  );
