/**
 * The one redaction list: which keys hold secrets, and which values are secrets of this process.
 *
 * Logs, errors, the dashboard and job data all pass what they show through here.
 */

/** Keys whose values are never shown, whatever object they stand in (credentials of spec 2.16 and 2.17 included). */
export const secretKeys = [
  'token',
  'api_token',
  'password',
  'secret',
  'authorization',
  'cookie',
  'http_auth',
  'credentials',
] as const;

const HIDDEN = '[hidden]';
const hidden = new Set<string>(secretKeys);
const values = new Set<string>();

/** Makes `value` unprintable for the rest of the process; short or empty values would blank ordinary text and are refused. */
export function keepSecret(value: string | undefined): void {
  if (value !== undefined && value.length >= 4) values.add(value);
}

/** The text with every secret value of this process, and passwords inside URLs, replaced. */
export function scrub(text: string): string {
  let clean = text.replace(/(\w+:\/\/[^\s/:@]*):[^\s/@]+@/g, `$1:${HIDDEN}@`);
  for (const value of values) clean = clean.replaceAll(value, HIDDEN);
  return clean;
}

/** A copy of `value`, safe to show: secret keys hidden, secret values and URL passwords scrubbed from all strings. */
export function redact(value: unknown): unknown {
  if (typeof value === 'string') return scrub(value);
  if (Array.isArray(value)) return value.map(redact);
  if (value instanceof Date || value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      hidden.has(key.toLowerCase()) && inner !== null && inner !== undefined ? HIDDEN : redact(inner),
    ]),
  );
}
