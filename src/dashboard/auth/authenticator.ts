import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * What opens the dashboard: the password, or, when none is set, the key in a one-time link.
 *
 * There is one key at a time. It signs one browser in; whoever needs another asks for it on the sign-in page,
 * and it is written to the log, which only the people of this machine read.
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

  /** Whether this is the key; if so, it was good for this one time. */
  useKey(text: string): boolean {
    if (this.key === undefined || !isSame(text, this.key)) return false;
    this.key = undefined;
    return true;
  }

  /** Makes a new key; the one before it, if it was not used, opens nothing any more. */
  renewKey(): void {
    this.key = randomBytes(24).toString('base64url');
  }

  /** The link that holds the key. One that was used up is replaced by this. */
  linkAt(url: string): string {
    if (this.key === undefined) this.renewKey();
    return `${url}/sign-in?key=${this.key}`;
  }
}

const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
