/** The agency of the screens: its accounts, its people and its policies, opened as a daemon opens them. */
import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noAccess } from '../../src/access/access.ts';
import { type Caretaker, openCaretaker } from '../../src/app/caretaker.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { keys } from '../../src/records/keys.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { systemWords } from '../../src/settings/notify-words.ts';
import type { Settings } from '../../src/settings/settings.ts';
import { cheapHash } from '../support/cheap-hash.ts';
import { keptLog } from '../support/quiet.ts';
import type { TestRedis } from '../support/redis.ts';
import type { MovingClock } from './clock.ts';

/** Everybody's password. */
export const PASSWORD = randomBytes(12).toString('base64url');

const DAY = 86_400_000;

export interface Agency {
  caretaker: Caretaker;
  clock: MovingClock;
  /** The service, by account. */
  services: { default: Sandbox; hotels: Sandbox };
  policies: readonly Policy[];
  policiesDir: string;
  log: ReturnType<typeof keptLog>;
  policy(name: string): Policy;
  close(): Promise<void>;
}

export async function openAgency(
  redis: TestRedis,
  clock: MovingClock,
  { sites, requestsPerMinute }: { sites: number; requestsPerMinute: number },
): Promise<Agency> {
  const folder = mkdtempSync(join(tmpdir(), 'caretaker-screens-'));
  const policiesDir = join(folder, 'policies');
  cpSync(join(import.meta.dirname, 'policies'), policiesDir, { recursive: true });
  // The budget is what bounds the requests; the service itself refuses nothing.
  const service = { rateLimit: 0, clock, planLacks: [] };
  const services = {
    default: await startSandbox({ ...service, sites, seed: 7 }),
    hotels: await startSandbox({ ...service, sites: Math.ceil(sites / 10), seed: 11 }),
  };
  const inbox = await startInbox();
  const settings = {
    ...settingsOf(services, redis, folder, policiesDir, requestsPerMinute),
    notifications: receiversAt(inbox.url),
  };
  const log = keptLog();
  const caretaker = await openCaretaker({ settings, log, clock });
  // The records may be of services that had other ports: the next runs bind them to these.
  await caretaker.redis.store.del(keys.addresses);
  const { policies, findings } = loadPolicies({ dir: policiesDir, registry: caretaker.registry, settings });
  if (findings.length > 0)
    throw new Error(findings.map(({ message, file, line }) => `${file}:${line} ${message}`).join('\n'));
  return {
    caretaker,
    clock,
    services,
    policies,
    policiesDir,
    log,
    policy(name) {
      const found = policies.find((policy) => policy.name === name);
      if (!found) throw new Error(`The agency has no policy ${name}.`);
      return found;
    },
    async close() {
      await caretaker.close();
      inbox.close();
      await services.default.stop();
      await services.hotels.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Where its notifications arrive: two receivers are fine, and the chat refuses every message. */
async function startInbox() {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(request.url === '/team-chat' ? 404 : 204).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const receiversAt = (url: string): Settings['notifications'] => ({
  ops: { name: 'ops', webhook: { url: `${url}/ops` }, group_wait: 0, events: [...systemWords] },
  'on-call': { name: 'on-call', webhook: { url: `${url}/on-call` }, group_wait: 0 },
  'team-chat': { name: 'team-chat', webhook: { url: `${url}/team-chat` }, group_wait: 0 },
});

function settingsOf(
  services: Agency['services'],
  redis: TestRedis,
  dataDir: string,
  policiesDir: string,
  requestsPerMinute: number,
): Settings {
  const passwordHash = cheapHash(PASSWORD);
  return {
    accounts: Object.fromEntries(
      Object.entries(services).map(([name, { url, token }]) => [
        name,
        {
          name,
          baseUrl: url,
          token,
          budget: { requestsPerMinute, reserve: 0.1, whenRedisIsDown: 'stop' as const },
          unset: {},
        },
      ]),
    ),
    redis: { kind: 'url', url: redis.socketPath },
    policiesDir,
    dataDir,
    daemon: { concurrency: 50 },
    dashboard: { host: '127.0.0.1', port: 0 },
    notifications: {},
    calendars: {},
    maintenance: [],
    retention: { runsMs: 90 * DAY },
    audit: { keptMs: 400 * DAY },
    access: {
      ...noAccess,
      users: [
        { name: 'ana', passwordHash, grants: [{ role: 'admin' }] },
        { name: 'ben', passwordHash, grants: [{ role: 'operator' }, { role: 'approver' }] },
        { name: 'carla', passwordHash, grants: [{ role: 'operator', accounts: ['hotels'] }] },
        { name: 'dirk', passwordHash, grants: [{ role: 'viewer' }] },
      ],
    },
    warnings: [],
    policyMentions: [],
  };
}
