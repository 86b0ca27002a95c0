/** A dashboard for a test, with real HTTP and its own Redis. */
import { Redis } from 'ioredis';
import { type Access, noAccess } from '../../src/access/access.ts';
import type { Grant } from '../../src/access/principal.ts';
import { openBudget } from '../../src/budget/budget.ts';
import { UnavailableError } from '../../src/client/errors.ts';
import { type Clock, systemClock } from '../../src/clock.ts';
import { openAudit } from '../../src/control/audit.ts';
import { type Dashboard, startDashboard } from '../../src/dashboard/dashboard.ts';
import type { AccountView, DashboardOptions, Health, SignIn } from '../../src/dashboard/options.ts';
import { createEngine } from '../../src/engine/engine.ts';
import { RunError } from '../../src/engine/run-commands.ts';
import { createRegistry, type Registry } from '../../src/job/registry.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { openQueues } from '../../src/queue/queues.ts';
import type { AuditLine } from '../../src/records/audit-store.ts';
import { openRecords, type Records } from '../../src/records/records.ts';
import type { Run, Target, TargetIn } from '../../src/run/run.ts';
import { noteMaintenance } from '../../src/schedule/maintenance.ts';
import { aPolicy as anyPolicy, aRun as anyRun, aTarget, type TargetChanges } from '../support/builders.ts';
import { cheapHash } from '../support/cheap-hash.ts';
import { keptLog } from '../support/quiet.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';

export const PASSWORD = 'correct horse';

export type Ask = (path: string, init?: RequestInit) => Promise<Response>;

/** Of a form; a field may be there several times. */
type Fields = Record<string, string> | [string, string][];

export interface Seen {
  status: number;
  headers: Headers;
  html: string;
  /** What its reader sees. */
  text: string;
  /** The text of its content, without the frame around it. */
  main: string;
}

export interface World {
  dashboard: Dashboard;
  records: Records;
  redis: TestRedis;
  log: ReturnType<typeof keptLog>;
  /** The response of `health`; a test changes it in place. */
  health: Health;
  /** The attempts to sign in so far. */
  signIns: SignIn[];
  /** Sends a request without a session. */
  ask: Ask;
  /** Signs in with the password, as one of `usersOf` if it is named, and sends requests with the session from then on. */
  signedIn(name?: string): Promise<Ask>;
  /** A page as somebody sees it who has signed in, with one session for all that the same person looks at. */
  look(path: string, name?: string): Promise<Seen>;
  /** What that person sees after sending a form. */
  press(path: string, fields?: Fields, name?: string): Promise<Seen>;
  /** Can be called again. */
  stop(): Promise<void>;
}

type Changes = Partial<
  Pick<
    DashboardOptions,
    | 'host'
    | 'port'
    | 'publicUrl'
    | 'access'
    | 'accounts'
    | 'receivers'
    | 'sendTest'
    | 'budgetOf'
    | 'drift'
    | 'policies'
    | 'needAccount'
    | 'redisSilentMs'
  >
> & {
  /** Default `PASSWORD`; null for none. */
  password?: string | null;
  clock?: Clock;
  /** Makes a plan; by default it cannot be made. */
  preview?: DashboardOptions['engine']['preview'];
  /** The jobs of the engine; none by default. */
  registry?: Registry;
  /** Another dashboard, whose Redis it uses. */
  beside?: World;
};

export async function startWorld({
  password = PASSWORD,
  registry = createRegistry([]),
  preview = async ({ name }) => {
    throw new RunError(`${name} cannot be planned here.`);
  },
  beside,
  ...changes
}: Changes = {}): Promise<World> {
  const redis = beside?.redis ?? (await startTestRedis());
  const store = new Redis({ ...redis.options, maxRetriesPerRequest: null });
  store.on('error', () => undefined); // tests stop Redis
  const log = keptLog();
  const records = openRecords(store);
  const queues = openQueues(store, log);
  const health: Health = {
    redis: 'up',
    roles: ['dashboard'],
    waiting: [],
    brokenFiles: [],
    differences: [],
    moved: [],
    troubles: [],
    servers: [],
  };
  const opened = async () => {
    await queues.close();
    store.disconnect();
    if (!beside) await redis.stop();
  };
  const signIns: SignIn[] = [];
  const dashboard = await startDashboard({
    host: '127.0.0.1',
    port: 0,
    ...(password === null ? {} : { password }),
    records,
    queues,
    audit: openAudit({ records, clock: changes.clock ?? systemClock, keptMs: 86_400_000, log }),
    reasons: registry.reasons,
    engine: {
      ...createEngine({
        records,
        queues,
        registry,
        clock: changes.clock ?? systemClock,
        log,
        link: (account) => {
          throw new Error(`Nothing is asked of ${account} here.`);
        },
        addressOf: () => undefined,
        owner: 'test',
      }),
      // There is no account here that could be asked.
      preview,
      async planToSave({ name }) {
        throw new RunError(`${name} cannot be planned here.`);
      },
    },
    access: () => noAccess,
    policies: () => [],
    accounts: async () => [anAccount()],
    receivers: () => [],
    sendTest: async () => ({ is: 'delivered', status: 204, ms: 7 }),
    registry,
    version: '1.0.0',
    needAccount: () => ({ baseUrl: 'http://127.0.0.1:1/api/v6' }),
    names: {
      settings: { accounts: { default: {} } },
      noteMaintenance: () => noteMaintenance(records, [], changes.clock ?? systemClock),
      link: () => {
        throw new UnavailableError('listTags', false, 'no account can be asked here');
      },
    },
    budgetOf: (account) =>
      openBudget(store, changes.clock ?? systemClock, account, { requestsPerMinute: 200, reserve: 0.1 }),
    drift: () => 0,
    health: async () => health,
    redisSilentMs: () => 0,
    vitals: () => ({
      version: '1.0.0',
      node: 'v20.0.0',
      memoryBytes: 9e7,
      heapBytes: 4e7,
      lagMs: 4,
      maxLagMs: 70,
    }),
    onSignIn: (attempt) => signIns.push(attempt),
    clock: systemClock,
    log,
    ...changes,
  }).catch(async (error) => {
    await opened();
    throw error;
  });
  const ask = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    // To compress a page takes as long as to make it.
    if (!headers.has('accept-encoding')) headers.set('accept-encoding', 'identity');
    return fetch(`${dashboard.url}${path}`, { redirect: 'manual', ...init, headers });
  };
  const signedIn = async (name?: string): Promise<Ask> => {
    const fields = { ...(name !== undefined && { name }), password: PASSWORD };
    const cookie = sessionOf(await postForm(ask, dashboard.url, '/sign-in', fields));
    return (path, init = {}) => ask(path, { ...init, headers: { ...init.headers, cookie } });
  };
  const readers = new Map<string | undefined, Promise<Ask>>();
  const readerNamed = (name: string | undefined) => {
    const reader = readers.get(name) ?? signedIn(name);
    readers.set(name, reader);
    return reader;
  };
  let stopped: Promise<void> | undefined;
  return {
    dashboard,
    records,
    redis,
    log,
    health,
    signIns,
    ask,
    signedIn,
    async look(path, name) {
      const ask = await readerNamed(name);
      return seenIn(await ask(path, { headers: { accept: 'text/html' } }));
    },
    async press(path, fields = {}, name) {
      const ask = await readerNamed(name);
      const headers = { origin: dashboard.url, accept: 'text/html' };
      return seenIn(await ask(path, { method: 'POST', headers, body: new URLSearchParams(fields) }));
    },
    stop: () => {
      stopped ??= dashboard.close().then(opened);
      return stopped;
    },
  };
}

/** Settings with these users, each with `PASSWORD`. */
export const usersOf = (grants: Readonly<Record<string, readonly Grant[]>>): Access => {
  const passwordHash = cheapHash(PASSWORD);
  const users = Object.entries(grants).map(([name, own]) => ({ name, passwordHash, grants: own }));
  return { ...noAccess, users };
};

/** Sends a form like a page of the dashboard. */
export const postForm = (ask: Ask, origin: string, path: string, fields: Fields = {}): Promise<Response> =>
  ask(path, { method: 'POST', headers: { origin }, body: new URLSearchParams(fields) });

/** The session's cookie as a browser would send it back; empty when none was set. */
export const sessionOf = (answer: Response): string => answer.headers.get('set-cookie')?.split(';')[0] ?? '';

/** An account whose service responds, with a budget that is almost unused. */
export const anAccount = (changes: Partial<AccountView> = {}): AccountView => ({
  account: 'default',
  limit: 200,
  left: 150,
  reserved: 20,
  requests: { person: 1, control: 2, follow: 3, action: 4, record: 0 },
  ...changes,
});

/** Publishes the presence of a daemon, as the daemon itself would. */
export const showDaemon = (records: Records, roles: string[], at = Date.now()): Promise<void> =>
  records.presence.announce({ id: 'd', pid: 7, host: 'night-shift', roles, startedAt: at, seenAt: at });

const JULY = Date.UTC(2026, 6, 30, 2);

/** A queued run of July. */
export const aRun = (changes: Partial<Run> = {}): Run =>
  anyRun({
    id: 'nightly-sync.20260730T020000Z',
    policy: 'nightly-sync',
    account: 'default',
    scheduledFor: JULY,
    createdAt: JULY,
    ...changes,
  });

export const ended = (
  id: string,
  outcome: NonNullable<Target['outcome']>,
  more: TargetChanges<'ended'> = {},
): TargetIn<'ended'> =>
  aTarget(id, {
    state: 'ended',
    outcome,
    reason: outcome === 'succeeded' ? 'done' : 'rejected',
    startedAt: JULY,
    finishedAt: JULY + 90_000,
    ...more,
  });

/** Stores a run with its plan, moved to `running`. */
export async function remember(records: Records, run: Run, targets: readonly Target[]): Promise<void> {
  await records.runs.create(run, { concurrency: 10, targetMs: 60_000 });
  await records.runs.move(run, 'planning', { at: run.createdAt });
  await records.plans.add(run.id, await records.plans.begin(run.id), targets);
  await records.runs.move(run, 'running', { at: run.createdAt, planComplete: true });
}

export const aPolicy = (name: string, changes: Partial<Policy> = {}): Policy =>
  anyPolicy({ name, hash: name, ...changes });

/** The text of a page as its reader sees it. */
export const textOf = (html: string): string => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

export async function seenIn(answer: Response): Promise<Seen> {
  const { status, headers } = answer;
  const html = await answer.text();
  return { status, headers, html, text: textOf(html), main: textOf(html.slice(html.indexOf('<main'))) };
}

/** The rows of a table, each as its text; `mark` is what is before the table, such as its id. */
export const rowsOf = (html: string, mark: string): string[] =>
  (html.split(mark)[1]?.split('</table>')[0] ?? '')
    .split('<tr ')
    .slice(1)
    .map((row) => textOf(row.slice(row.indexOf('>') + 1)).trim());

/** A page and those after it, each reached by the link of the one before. */
export async function pagesFrom(ask: Ask, first: string, link: 'Next' | 'Older'): Promise<string[]> {
  const pages: string[] = [];
  for (let path: string | undefined = first; path !== undefined; ) {
    if (pages.length === 10) throw new Error(`The pages after ${first} do not end.`);
    const html = await (await ask(path)).text();
    pages.push(html);
    path = new RegExp(`href="([^"]+)">${link}<`).exec(html)?.[1]?.replaceAll('&amp;', '&');
  }
  return pages;
}

/** The lines of the audit log, the oldest first. */
export async function auditOf({ records }: Pick<World, 'records'>): Promise<AuditLine[]> {
  const lines: AuditLine[] = [];
  for await (const { line } of records.audit.newestFirst({})) lines.unshift(line);
  return lines;
}

/** The messages of a stream, as they were sent. */
export async function openEvents(
  ask: Ask,
  path = '/api/v1/events',
): Promise<{ next(): Promise<string>; end(): Promise<void> }> {
  const reader = (await ask(path)).body?.pipeThrough(new TextDecoderStream()).getReader();
  return {
    next: async () => (await reader?.read())?.value ?? '',
    end: async () => reader?.cancel(),
  };
}
