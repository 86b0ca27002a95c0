/** Hashes of passwords for tests that are not about their cost: a thousandth of the work of a real one. */
import { scryptSync } from 'node:crypto';

const SALT = Buffer.alloc(16, 7);

/** A hash that Caretaker accepts, as it may be in a configuration. */
export function cheapHash(password: string): string {
  const hash = scryptSync(password.normalize('NFKC'), SALT, 32, { N: 1024, r: 1, p: 1 });
  return `$scrypt$ln=10,r=1,p=1$${base64(SALT)}$${base64(hash)}`;
}

const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
