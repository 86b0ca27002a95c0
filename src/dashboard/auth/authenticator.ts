import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * Checks the password, or, when none is set, the key of a one-time link.
 *
 * There is one key at a time, and it signs one browser in. The sign-in page can make a new one, which is
 * written to the log: only people with access to this machine can read it.
 */
export class Authenticator {
  private readonly password: string | undefined;
  private key: string | undefined;

  constructor(password: string | undefined) {
    this.password = password || undefined;
    if (!this.hasPassword) this.renewKey();
  }

  get hasPassword(): boolean {
    return this.password !== undefined;
  }

  /** Takes as long for a wrong password as for the right one. */
  isPassword(text: string): boolean {
    return this.password !== undefined && isSame(text, this.password);
  }

  /** Whether this is the key. A key works once. */
  useKey(text: string): boolean {
    if (this.key === undefined || !isSame(text, this.key)) return false;
    this.key = undefined;
    return true;
  }

  /** Makes a new key. The previous one stops working. */
  renewKey(): void {
    this.key = randomBytes(24).toString('base64url');
  }

  /** The link with the key. Makes a new key when the last one was used. */
  linkAt(url: string): string {
    if (this.key === undefined) this.renewKey();
    return `${url}/sign-in?key=${this.key}`;
  }
}

const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
