/**
 * What the configuration and Redis have instead of tokens and passwords. Hashes of passwords, as they are written in the
 * configuration: scrypt in PHC's notation, `$scrypt$ln=15,r=8,p=3$<salt>$<hash>`.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  type ScryptOptions,
  scrypt,
  timingSafeEqual,
} from 'node:crypto';

/** A shorter password could be guessed from many machines despite the throttle of the dashboard. */
export const MIN_PASSWORD = 12;

/** Needs 32 MiB and about a tenth of a second (OWASP's recommendation with the least memory but one). */
const COST = { ln: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Costlier hashes are refused when the configuration is loaded: each attempt to sign in would pay for them. */
const MAX_MEMORY_BYTES = 128 * 1024 * 1024;
const MAX_P = 16;

interface PasswordHash {
  options: ScryptOptions;
  salt: Buffer;
  hash: Buffer;
}

/** The hash of a password with a new salt. Takes about a tenth of a second of one thread. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, {
    options: optionsOf(COST.ln, COST.r, COST.p),
    salt,
    hash: Buffer.alloc(HASH_BYTES),
  });
  return `$scrypt$ln=${COST.ln},r=${COST.r},p=${COST.p}$${base64(salt)}$${base64(hash)}`;
}

/** Whether this is the password. As slow as `hashPassword`; false for a text that is no hash. */
export async function isPasswordOf(hash: string, password: string): Promise<boolean> {
  const parsed = parse(hash);
  return parsed !== undefined && timingSafeEqual(await derive(password, parsed), parsed.hash);
}

/** Whether the text is a hash that `isPasswordOf` can check. */
export const isPasswordHash = (text: string): boolean => parse(text) !== undefined;

/** A hash of no password, for unknown names: an answer about them takes as long as about known ones. */
export const NOBODYS_HASH = `$scrypt$ln=${COST.ln},r=${COST.r},p=${COST.p}$${base64(Buffer.alloc(SALT_BYTES))}$${base64(Buffer.alloc(HASH_BYTES))}`;

function parse(text: string): PasswordHash | undefined {
  const [, ln, r, p, salt = '', hash = ''] =
    /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/]{16,86})\$([\w+/]{22,86})$/.exec(text) ?? [];
  const options = optionsOf(Number(ln), Number(r), Number(p));
  const isBounded =
    Number(ln) >= 10 &&
    Number(r) > 0 &&
    Number(p) > 0 &&
    Number(p) <= MAX_P &&
    memoryOf(options) <= MAX_MEMORY_BYTES;
  return isBounded
    ? { options, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') }
    : undefined;
}

const optionsOf = (ln: number, r: number, p: number): ScryptOptions => ({
  N: 2 ** ln,
  r,
  p,
  maxmem: MAX_MEMORY_BYTES * 2,
});
const memoryOf = ({ N = 0, r = 0 }: ScryptOptions): number => 128 * N * r;

/** Two ways to type the same character give the same password. */
const derive = (password: string, { options, salt, hash }: PasswordHash): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    scrypt(password.normalize('NFKC'), salt, hash.length, options, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  );

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

// Tokens of programs, and keys of links that sign one browser in. They are random, so a fast hash is enough to keep them
// out of the configuration and of Redis.

/** Tokens that people choose have at least this many characters: attempts with tokens are not slowed down. */
export const MIN_TOKEN = 24;
const HASH = /^sha256:[\w-]{43}$/;

/** A new token of 256 random bits. */
export const newToken = (): string => `caretaker_${randomBytes(32).toString('base64url')}`;

/** What the configuration has of a token. */
export const hashToken = (token: string): string =>
  `sha256:${createHash('sha256').update(token).digest('base64url')}`;

/** Whether the text has the form of a token's hash. */
export const isTokenHash = (text: string): boolean => HASH.test(text);

/** A new key of a link that signs one browser in to a dashboard, once. */
export const newSignInKey = (): string => randomBytes(24).toString('base64url');

/** What is stored of a key: whoever reads it cannot sign in. */
export const hashOfKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** The link with a key at a dashboard's address. */
export const signInLink = (url: string, key: string): string => `${url}/sign-in?key=${key}`;

// What only the browser with a session may read of what is stored with it: AES-256-GCM, as nonce, tag and text.

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Not the hash by which the session is stored: that is known to whoever reads Redis. */
const sealingKey = (id: string): Buffer => createHmac('sha256', id).update('seal').digest();

/** Encrypts a text with a random id, which `unseal` needs. */
export function seal(text: string, id: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, sealingKey(id), nonce);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** The text that was sealed with this id; undefined when it was not. */
export function unseal(sealed: string, id: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  const text = NONCE_BYTES + TAG_BYTES;
  if (bytes.length < text) return undefined;
  const decipher = createDecipheriv(CIPHER, sealingKey(id), bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, text));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(text)), decipher.final()]).toString();
  } catch {
    return undefined;
  }
}
