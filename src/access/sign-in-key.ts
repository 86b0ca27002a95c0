/** The keys of one-time links that sign one browser in to a dashboard. */
import { createHash, randomBytes } from 'node:crypto';

export const newSignInKey = (): string => randomBytes(24).toString('base64url');

/** What is stored of a key: whoever reads it cannot sign in. */
export const hashOfKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** The link with a key at a dashboard's address. */
export const signInLink = (url: string, key: string): string => `${url}/sign-in?key=${key}`;
