/**
 * Tokens of programs, and keys of links that sign one browser in. They are random, so a fast hash is enough to keep them
 * out of the configuration and of Redis.
 */
import { createHash, randomBytes } from 'node:crypto';

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
