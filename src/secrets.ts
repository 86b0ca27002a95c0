/**
 * The one redaction list: which keys hold secrets, and which values are secrets of this process.
 *
 * Logs, errors, the dashboard and job data all pass what they show through here.
 */

/**
 * Keys whose values are never shown, whatever object they stand in (credentials of spec 2.16 and 2.17 included). How
 * a key is written does not matter, nor what stands before it: `token` also hides `apiToken` and `X-Auth-Token`.
 */
export const secretKeys = [
  'token',
  'api_token',
  'password',
  'passphrase',
  'secret',
  'secret_key',
  'api_key',
  'private_key',
  'authorization',
  'cookie',
  'http_auth',
  'credentials',
  'login_url',
] as const;

const HIDDEN = '[hidden]';
/** Objects nested deeper than this are cut off: a log line must not fail on one that holds itself. */
const DEEPEST = 20;
const bare = (key: string): string => key.toLowerCase().replace(/[^a-z0-9]/g, '');
const endings = secretKeys.flatMap((key) => [bare(key), `${bare(key)}s`]);
/** Whether what stands under this key is never shown. */
export const isSecretKey = (key: string): boolean => endings.some((ending) => bare(key).endsWith(ending));
/** The secret values in every form in which they turn up in texts, longest first. */
let values: readonly string[] = [];

/**
 * Makes `value` unprintable for the rest of the process, also where it stands encoded in a URL or in JSON. Values of
 * less than four characters would blank ordinary text and are refused.
 */
export function keepSecret(value: string | undefined): void {
  if (value === undefined || value.length < 4) return;
  const forms = [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)];
  // A secret that begins with another one must go first, or its end would stay.
  values = [...new Set([...values, ...forms])].sort((a, b) => b.length - a.length);
}

/** The text with every secret value of this process, passwords inside URLs and bearer tokens replaced. */
export function scrub(text: string): string {
  let clean = text;
  for (const value of values) clean = clean.replaceAll(value, HIDDEN);
  return clean
    .replace(/(\w:\/\/[^\s/:@]*):[^\s/]+@/g, `$1:${HIDDEN}@`)
    .replace(/\b(Bearer) +[\w.~+/=-]{8,}/g, `$1 ${HIDDEN}`);
}

/**
 * A copy of `value`, safe to show: secret keys hidden, secret values and URL passwords scrubbed from all strings,
 * errors and URLs as their text, and what is nested too deep cut off.
 */
export function redact(value: unknown): unknown {
  return redactAt(value, 0);
}

function redactAt(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return scrub(value);
  if (value instanceof Date || value === null || typeof value !== 'object') return value;
  if (depth > DEEPEST) return '[too deep]';
  if (Array.isArray(value)) return value.map((one) => redactAt(one, depth + 1));
  if (value instanceof Error) return scrub(`${value.name}: ${value.message}`);
  if (value instanceof URL) return scrub(value.href);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      scrub(key),
      isSecretKey(key) && inner !== null && inner !== undefined ? HIDDEN : redactAt(inner, depth + 1),
    ]),
  );
}
