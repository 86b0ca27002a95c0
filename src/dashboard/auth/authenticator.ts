import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { type Access, type Identity, principalBy, programWith } from '../../access/access.ts';
import { isPasswordOf, NOBODYS_HASH, newSignInKey, signInLink } from '../../access/credentials.ts';
import { adminPrincipal, type Principal } from '../../access/principal.ts';
import { signsInWithLink } from '../../settings/settings.ts';

/**
 * Checks passwords, tokens and the keys of one-time links. Users and tokens are those of the current settings.
 *
 * When neither a password nor users are set, people sign in with a link. There is one key at a time, and it
 * signs one browser in. The sign-in page can make a new one, which is written to the log: only people with
 * access to this machine can read it.
 */
export class Authenticator {
  private readonly gate = new HashGate();
  private readonly password: string | undefined;
  private key: string | undefined = newSignInKey();

  constructor(
    password: string | undefined,
    private readonly access: () => Access,
  ) {
    this.password = password || undefined;
  }

  /** Whether the single password of the dashboard is set. */
  get hasPassword(): boolean {
    return this.password !== undefined;
  }

  /** Whether people sign in with their name. */
  get hasNames(): boolean {
    return this.access().users.some(({ passwordHash }) => passwordHash !== undefined);
  }

  /** Whether people sign in with a link, because there is no other way. */
  get hasLink(): boolean {
    return signsInWithLink(this.password, this.access());
  }

  /** Who a person is by the current settings. */
  principal(identity: Identity): Principal | undefined {
    if (identity.by === 'dashboard' && !this.hasPassword && !this.hasLink) return undefined;
    return principalBy(identity, this.access());
  }

  /**
   * What a session keeps of the single password, so that it ends when that is changed. It says nothing about the password
   * to whoever reads Redis, where the id is not.
   */
  markOf(sessionId: string): string {
    return createHmac('sha256', sessionId)
      .update(this.password ?? '')
      .digest('base64url');
  }

  /** The program with this token. */
  program(token: string): Principal | undefined {
    return programWith(token, this.access());
  }

  /** Whether this is the single password. Takes as long for a wrong password as for the right one. */
  isDashboardPassword(text: string): boolean {
    return this.password !== undefined && isSame(text, this.password);
  }

  /**
   * Who has this name and password; without a name, or with that of the admin, the password is the single one.
   * Takes as long for a name that does not exist. `'busy'` when too many checks wait already.
   */
  async identify(name: string, password: string): Promise<Identity | undefined | 'busy'> {
    if (name === '' || (this.hasPassword && name === adminPrincipal.name))
      return this.isDashboardPassword(password) ? { by: 'dashboard' } : undefined;
    const hash = this.access().users.find((user) => user.name === name)?.passwordHash;
    const isRight = await this.gate.run(() => isPasswordOf(hash ?? NOBODYS_HASH, password));
    if (isRight === 'busy') return 'busy';
    return isRight && hash !== undefined ? { by: 'password', user: name, hash } : undefined;
  }

  /** Whether this is the key of the link. A key works once. */
  useKey(text: string): boolean {
    if (!this.hasLink || this.key === undefined || !isSame(text, this.key)) return false;
    this.key = undefined;
    return true;
  }

  /** Makes a new key. The previous one stops working. */
  renewKey(): void {
    this.key = newSignInKey();
  }

  /** The link with the key. Makes a new key when the last one was used. */
  linkAt(url: string): string {
    if (this.key === undefined) this.renewKey();
    return signInLink(url, this.key ?? '');
  }
}

const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Checks of passwords that run at the same time: each needs 32 MiB and a thread of the process. */
const MAX_RUNNING = 2;
/** Attempts that may wait for their turn, about a second. Further ones are refused at once. */
const MAX_WAITING = 16;

/** Bounds what attempts to sign in cost the process, whatever their number. */
export class HashGate {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  /** Runs the check when it is its turn; `'busy'` when too many wait already. */
  async run<T>(check: () => Promise<T>): Promise<T | 'busy'> {
    if (this.running >= MAX_RUNNING) {
      if (this.waiting.length >= MAX_WAITING) return 'busy';
      // The one that ends hands over its place.
      await new Promise<void>((turn) => this.waiting.push(turn));
    } else this.running += 1;
    try {
      return await check();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }
}
