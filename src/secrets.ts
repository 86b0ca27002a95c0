/**
 * The one redaction list: which keys hold secrets, which values are secrets of this process, and what a
 * secret looks like inside a text.
 *
 * It is applied where a text comes in (the client's errors, the plan, what jobs return, the log), so that
 * records, pages, notifications and exports contain nothing that would have to be hidden later.
 *
 * Every search here takes time proportional to the length of the text, because texts of the service can have
 * any size.
 */

/**
 * Keys whose values are never shown, in any object (including the credentials of spec 2.16 and 2.17). Case,
 * separators and prefixes do not matter: `token` also hides `apiToken` and `X-Auth-Token`.
 */
export const secretKeys = [
  'token',
  'api_token',
  'password',
  'passphrase',
  'passwd',
  'secret',
  'secret_key',
  'api_key',
  'access_key',
  'auth_key',
  'private_key',
  'authorization',
  'cookie',
  'http_auth',
  'credential',
  'credentials',
  'login_url',
] as const;

/** Names that mean a secret only as a parameter of a URL. Elsewhere they are ordinary words. */
const secretParameters = ['sso', 'sig', 'signature', 'jwt', 'otp', 'pass', 'pwd', 'auth', 'session', 'sid'];

/** The authorization schemes in use (IANA's registry, and those of cloud services). */
const schemes = [
  'Basic',
  'Bearer',
  'Digest',
  'DPoP',
  'GNAP',
  'HOBA',
  'Mutual',
  'Negotiate',
  'NTLM',
  'OAuth',
  'Token',
  'ApiKey',
  'Api-Key',
  'Hawk',
  'Kerberos',
  'PrivateToken',
  'Signature',
  'SharedKey',
  'SharedKeyLite',
  'SSWS',
  'SCRAM-SHA-1',
  'SCRAM-SHA-256',
  'AWS4-HMAC-SHA256',
  'GoogleLogin',
  'vapid',
];

const HIDDEN = '[hidden]';
/** Deeper objects are cut off: a log line must not fail on a circular one. */
const MAX_DEPTH = 20;
const bare = (key: string): string => key.toLowerCase().replace(/[^a-z0-9]/g, '');
const secretEnding = new RegExp(`(?:${secretKeys.map(bare).join('|')})s?$`);
/** Whether the value under this key is never shown. */
export const isSecretKey = (key: string): boolean => secretEnding.test(bare(key));
/** The secret values in every form that appears in texts, longest first. */
let values: readonly string[] = [];
/** Secret values that are ordinary words or numbers. */
let words: readonly string[] = [];

/**
 * Redacts `value` for the rest of the process, also where it is encoded in a URL or in JSON. Values of fewer
 * than four characters are ignored, because they would redact ordinary text. A short word or number (`secret`, `2026`)
 * is redacted only in texts from elsewhere (`scrubForeign`): in ours, it is a word of ours.
 */
export function keepSecret(value: string | undefined): void {
  if (value === undefined || value.length < 4) return;
  scrubbed.clear();
  if (value.length < MIN_SECRET && /^(?:\p{L}+|\d+)$/u.test(value)) {
    words = [...new Set([...words, value])];
    return;
  }
  const forms = [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)];
  // A secret that begins with another one must be replaced first, or its end would remain.
  values = [...new Set([...values, ...forms])].sort((a, b) => b.length - a.length);
}

/** A shorter token or password can be guessed, and may be an ordinary word, which cannot be hidden everywhere. */
export const MIN_SECRET = 12;

/** As `scrub`, for texts of the service and of files, in which secrets that are ordinary words are hidden as well. */
export function scrubForeign(text: string): string {
  const clean = words.reduce(
    (hidden, word) => hidden.replace(new RegExp(`(?<![\\p{L}\\d])${word}(?![\\p{L}\\d])`, 'gu'), HIDDEN),
    text,
  );
  return scrub(clean);
}

/** As in a process that has just started: for tests, of which many run in one process. */
export function forgetSecrets(): void {
  values = [];
  words = [];
  scrubbed.clear();
}

/** The text with only the secret values of this process replaced: for our own messages about secrets. */
export const withoutValues = (text: string): string =>
  values.reduce((clean, value) => clean.replaceAll(value, HIDDEN), text);

/**
 * The text with every secret replaced: the values of this process, user names and passwords in URLs, values
 * after the name of a secret or an authorization scheme, secret URL parameters, PEM blocks and JSON Web
 * Tokens.
 */
export function scrub(text: string): string {
  if (!mayHaveSecret.test(text)) return withoutValues(text);
  const clean = withoutValues(text).replace(pem, `$1${HIDDEN}`);
  return withoutParameters(withoutSchemes(withoutPairs(clean)))
    .replace(jwt, HIDDEN)
    .replace(passwordOfServer, `$1:${HIDDEN}@`)
    .replace(passwordInUrl, `$1:${HIDDEN}@`)
    .replace(userInUrl, `$1${HIDDEN}@`)
    .replace(userInEncodedUrl, `$1${HIDDEN}%40`);
}

/** A part of every pattern below. Ids and names, as most texts are, have none of it, and are not searched. */
const mayHaveSecret = /[=:>% \t]|eyJ|-----BEGIN/;

/** Texts that were scrubbed, until there are too many characters of them or another secret is kept. */
const scrubbed = new Map<string, string>();
const MAX_SCRUBBED = 2_000_000;
let scrubbedLength = 0;

/** As `scrub`, for texts that are shown again and again: one that was scrubbed before is not searched again. */
export function scrubOnce(text: string): string {
  const known = scrubbed.get(text);
  if (known !== undefined) return known;
  const clean = scrub(text);
  if (scrubbed.size === 0) scrubbedLength = 0;
  scrubbedLength += text.length;
  if (scrubbedLength > MAX_SCRUBBED) {
    scrubbed.clear();
    scrubbedLength = text.length;
  }
  scrubbed.set(text, clean);
  return clean;
}

/** A truncated block has no end: everything after it belongs to it. */
const pem = /(-----BEGIN [A-Z0-9 ]{1,60}-----)[\s\S]*?(?=-----END [A-Z0-9 ]{1,60}-----|$)/g;
const jwt = /(?<![\w-])eyJ[\w-]{6,}(?:\.[\w-]*){1,4}/g;
/**
 * In the address of a page, "@" can be in the path. In that of a server (redis:), it ends the password, which may hold
 * "/" and "@" by mistake.
 */
const passwordOfServer = /\b(?!https?:|wss?:)([a-z][a-z+.-]{0,19}:\/\/[^\s/:@]*):(?:(?!:\/\/)[^\s"'<>])+@/gi;
const passwordInUrl = /(\w:\/\/[^\s/:@]*):(?:[^\s/]+|(?!\d{0,5}[/?#])(?:(?!:\/\/)[^\s@"'<>])+)@/g;
/** Without a password, the name itself may be a token. */
const userInUrl = /(\w:\/\/)[^\s/:@?#[\]"'<>]+@/g;
const userInEncodedUrl = /(%3A%2F%2F)(?:(?!%2F|%40|%3F)[^\s&"'<>])+%40/gi;

const parameter = new RegExp(
  `((?:[?&;#]|%3f|%26)(?:[\\w.-]{0,40}[_.-])?(?:${secretParameters.join('|')})(?:=|%3d))((?:(?!%26)[^\\s&"'<>#])+)`,
  'gi',
);
const withoutParameters = (text: string): string => text.replace(parameter, `$1${HIDDEN}`);

const oneParameter = '[\\w-]+=(?:"[^"]*"?|[^\\s,"]+)';
const scheme = new RegExp(
  `\\b(${schemes.join('|')})([ \\t]+)(${oneParameter}(?:,[ \\t]*${oneParameter})*|[\\w.~+/=-]{8,})`,
  'gi',
);
/** "Basic authentication" and "bearer of bad news" are not credentials. */
const withoutSchemes = (text: string): string =>
  text.replace(scheme, (all, name: string, gap: string, sent: string, at: number) => {
    const rest = text.slice(at + all.length, at + all.length + LOOK_AHEAD);
    const isOrdinary = name.toLowerCase() === 'bearer' ? isProse(sent, rest) : isWord(sent);
    return isOrdinary ? all : `${name}${gap}${HIDDEN}`;
  });

/** A quote in HTML. */
const inHtml = '&quot;|&#0?3[49];';
const openingQuote = new RegExp(`^(?:\\\\{0,8}["'\`]|${inHtml})`);
/** The name of a secret, in any notation and perhaps in quotes, and the separator before its value. */
const leadIn = new RegExp(
  `(${secretKeys.map((key) => key.replaceAll('_', '[ _-]?')).join('|')})s?(?:\\\\{0,8}["'\`\\]]|${inHtml})?[ \\t]*(=>|[:=]{1,3}|%3[ad]|>(?=[^<\\s]))([ \\t]*)`,
  'gi',
);
/** How much of the following text is needed to decide whether a word belongs to a sentence. */
const LOOK_AHEAD = 24;

/** The text with the value after each name of a secret hidden: JSON, headers, forms, settings, sentences. */
function withoutPairs(text: string): string {
  let clean = '';
  let done = 0;
  leadIn.lastIndex = 0;
  for (let found = leadIn.exec(text); found; found = leadIn.exec(text)) {
    const from = leadIn.lastIndex;
    const value = valueAt(text, from, found);
    if (value === undefined) continue;
    clean += text.slice(done, value.from) + HIDDEN;
    done = value.to;
    leadIn.lastIndex = value.to;
  }
  return clean + text.slice(done);
}

interface Span {
  from: number;
  to: number;
}

/**
 * The part of the value at `from` that has to be hidden; undefined when there is no value or it is not
 * secret.
 */
function valueAt(text: string, from: number, [, name = '', sign = '', gap = '']: string[]): Span | undefined {
  const opening = openingQuote.exec(text.slice(from, from + 9))?.[0];
  if (opening !== undefined) return quoted(text, from, opening);
  if (text[from] === '{' || text[from] === '[') return { from, to: endOfGroup(text, from) };
  if (sign === '>') return spanOf(from, text.indexOf('<', from), text);
  const to = endOfWord(text, from);
  const word = text.slice(from, to);
  if (/^cookie/i.test(name)) return cookies(text, from);
  if (/^authorization/i.test(name)) return sentCredentials(text, from, word);
  // Directly after the separator comes a value. After a colon and a space, it may be a sentence.
  const isPair = sign !== ':' || gap === '';
  if (isPair ? isPlaceholder(word) : isPlaceholder(word) || isProse(word, text.slice(to, to + LOOK_AHEAD)))
    return undefined;
  return { from, to };
}

/** A value that means "none", or names its source (`\${NAME}`). */
const isPlaceholder = (word: string): boolean =>
  /^(?:|\$.*|\*+|\.{2,}|…|null|none|true|false|undefined|nil)[,;.]?$/i.test(word);

/** Extends to the end of the text when nothing else ends it. */
const spanOf = (from: number, to: number, text: string): Span => ({ from, to: to < 0 ? text.length : to });

/** The content of quotes. In JSON within JSON, the quotes are escaped. */
function quoted(text: string, from: number, opening: string): Span | undefined {
  const start = from + opening.length;
  if (opening.startsWith('&')) return spanOf(start, text.indexOf(opening, start), text);
  const quote = opening.at(-1) ?? '';
  for (let at = text.indexOf(quote, start); at >= 0; at = text.indexOf(quote, at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === '\\' && at - escapes > start) escapes += 1;
    const closes = opening.length === 1 ? escapes % 2 === 0 : escapes < opening.length;
    if (!closes) continue;
    const to = opening.length === 1 ? at : at - escapes;
    return isPlaceholder(text.slice(start, to)) ? undefined : { from: start, to };
  }
  return { from: start, to: text.length };
}

/** The position after the bracket that closes the one at `from`. */
function endOfGroup(text: string, from: number): number {
  let open = 0;
  for (let at = from; at < text.length; at += 1) {
    const one = text[at];
    if (one === '{' || one === '[') open += 1;
    else if (one === '}' || one === ']') open -= 1;
    if (open === 0) return at + 1;
  }
  return text.length;
}

const wordEnd = /[\s&<>]|\\?["'`](?!\w)|[,;)}\]]+(?=[\s"'\\]|$)|$/g;

/** Where a value without quotes ends. A quote or a bracket inside a word belongs to it. */
function endOfWord(text: string, from: number): number {
  wordEnd.lastIndex = from;
  return wordEnd.exec(text)?.index ?? text.length;
}

const pair = '[^\\s;=,"\'<>]+=[^\\s;,"\'<>]*';
const pairs = new RegExp(`${pair}(?:;[ \\t]*${pair})*`, 'y');

function cookies(text: string, from: number): Span | undefined {
  pairs.lastIndex = from;
  return pairs.test(text) ? { from, to: pairs.lastIndex } : undefined;
}

/** In an authorization header, the part after the scheme. Known schemes are handled by `withoutSchemes`. */
function sentCredentials(text: string, from: number, word: string): Span | undefined {
  if (schemes.some((one) => one.toLowerCase() === word.toLowerCase())) {
    const start = from + word.length + 1;
    const to = endOfWord(text, start);
    return isWord(text.slice(start, to)) || text.slice(start, to).includes('=')
      ? undefined
      : { from: start, to };
  }
  if (!isWord(word)) return isPlaceholder(word) ? undefined : { from, to: from + word.length };
  const start = from + word.length + 1;
  const to = endOfWord(text, start);
  return isWord(text.slice(start, to)) ? undefined : { from: start, to };
}

const withoutPunctuation = (text: string): string =>
  text.slice(0, 64).replace(/^[("'“‘[]+|[)\]"'”’.,;:!?…]+$/g, '');

/**
 * Whether this is a word of a language, or too short for a secret: lower-case letters, perhaps after a
 * capital.
 */
function isWord(text: string): boolean {
  const word = withoutPunctuation(text);
  return (
    word.length < 4 || word.split(/[-'’/]/).every((part) => /^(?:\p{L}?\p{Ll}*|\p{Lu}{1,5})$/u.test(part))
  );
}

/** Words that may follow `password:` in an error message and are not a password. */
const statements = new Set(
  `accepted active authentication authorization blocked changed correct denied disabled empty enabled expired failed
  hidden inactive incorrect invalid known malformed mandatory mismatch missing needed null optional present protected
  rejected removed required reset revoked scheme string token tokens unavailable unknown unset unsupported updated valid
  weak wrong`.split(/\s+/),
);

/**
 * Whether a word belongs to a sentence: it is an ordinary word, and is a statement itself or is followed by
 * another word.
 */
function isProse(word: string, rest: string): boolean {
  if (!isWord(word)) return false;
  const text = withoutPunctuation(word);
  if (text.length < 4 || statements.has(text.toLowerCase())) return true;
  return /^ +[("'“‘[]*\p{L}/u.test(rest) && !/[,;.!?]$/.test(word);
}

/**
 * A copy of `value` that is safe to show: secret keys hidden, all strings scrubbed (or cleaned by `clean`),
 * errors and URLs as text, and deep nesting cut off.
 */
export function redact(value: unknown, clean: (text: string) => string = scrub): unknown {
  return redactAt(value, clean, 0);
}

function redactAt(value: unknown, clean: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return clean(value);
  if (value instanceof Date || value === null || typeof value !== 'object') return value;
  if (depth > MAX_DEPTH) return '[too deep]';
  if (Array.isArray(value)) return value.map((one) => redactAt(one, clean, depth + 1));
  if (value instanceof Error) return clean(`${value.name}: ${value.message}`);
  if (value instanceof URL) return clean(value.href);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      clean(key),
      isSecretKey(key) && inner !== null && inner !== undefined ? HIDDEN : redactAt(inner, clean, depth + 1),
    ]),
  );
}
