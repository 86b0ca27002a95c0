/** A sandbox with a held clock, and a bare HTTP caller that does not use our client. */
import { onTestFinished } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type HeldClock, heldClock } from '../support/held-clock.ts';

export interface Reply {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the answer's JSON as it comes, without our schemas.
  body: any;
}

export interface Calling {
  sandbox: Sandbox;
  clock: HeldClock;
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  post(path: string, body?: unknown): Promise<Reply>;
  remove(path: string): Promise<Reply>;
  /** The ids of a list's items, in order. */
  ids(path: string): Promise<string[]>;
}

/** Starts a sandbox that ends with the test; without a rate limit unless the test sets one. */
export async function startCalling(options: SandboxOptions & { startsAt?: string } = {}): Promise<Calling> {
  const { startsAt, ...rest } = options;
  const clock = heldClock(startsAt === undefined ? undefined : Date.parse(startsAt));
  const sandbox = await startSandbox({ clock, rateLimit: 0, ...rest });
  onTestFinished(() => sandbox.stop());

  const call = async (method: string, path: string, init: RequestInit = {}): Promise<Reply> => {
    const authorization = `Bearer ${sandbox.token}`;
    const response = await fetch(`${sandbox.url}${path}`, {
      ...init,
      method,
      headers: { authorization, ...(init.headers as Record<string, string>) },
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
  const get = (path: string, headers: Record<string, string> = {}) => call('GET', path, { headers });
  return {
    sandbox,
    clock,
    get,
    post: (path, body) => call('POST', path, body === undefined ? {} : { body: JSON.stringify(body) }),
    remove: (path) => call('DELETE', path),
    async ids(path) {
      const { status, body } = await get(path);
      if (status !== 200) throw new Error(`${path} answers ${status}: ${JSON.stringify(body)}`);
      const items = Object.values(body).find(Array.isArray) as { id: string }[];
      return items.map(({ id }) => id);
    },
  };
}

/** Everything that the lists of an account show. */
export async function everythingIn({ get }: Calling): Promise<unknown[]> {
  const inSite = ['notes', 'custom-works', 'snapshots', 'activity-logs'].map(
    (name) => `sites/site-0002/${name}`,
  );
  const inAccount = [
    'sites',
    'clients',
    'tags',
    'tasks',
    'team-members',
    'staging-sites',
    'managed-accounts',
    'backup-destinations',
    'sender-emails',
    'reports',
    'auto-update-schedules',
  ];
  return Promise.all([...inAccount, ...inSite].map(async (path) => (await get(`/${path}`)).body));
}

/** The result of a call: its status, or that no readable answer came. */
export const fateOf = (call: Promise<{ status: number }>) =>
  call.then(
    ({ status }) => status,
    () => 'lost' as const,
  );
