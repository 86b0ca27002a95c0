/** Tokens of programs. They are random, so a fast hash is enough to keep them out of the configuration. */
import { createHash, randomBytes } from 'node:crypto';

/** Tokens that people choose have at least so many characters: attempts with tokens are not slowed down. */
export const MIN_TOKEN = 24;
const HASH = /^sha256:[\w-]{43}$/;

/** A new token of 256 random bits. */
export const newToken = (): string => `caretaker_${randomBytes(32).toString('base64url')}`;

/** What the configuration has of a token. */
export const hashToken = (token: string): string =>
  `sha256:${createHash('sha256').update(token).digest('base64url')}`;

/** Whether the text has the form of a token's hash. */
export const isTokenHash = (text: string): boolean => HASH.test(text);
