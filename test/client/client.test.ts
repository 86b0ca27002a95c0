/** What the answers of the service mean to callers, against the sandbox over real HTTP. */
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Budget } from '../../src/budget/budget.ts';
import type { Client } from '../../src/client/client.ts';
import { UnavailableError } from '../../src/client/errors.ts';
import { type Clock, systemClock } from '../../src/clock.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts';
import { fastClock } from '../support/caretaker.ts';
import { keptLog } from '../support/quiet.ts';
import { startTestRedis } from '../support/redis.ts';
import { redisOfFile } from '../support/redis-of-file.ts';
import { type AgencyOptions, errorOf, openAgency } from './opening.ts';

const { redis } = await redisOfFile();

let sandbox: Sandbox;
let budget: Budget;
let client: Client;
const clock = fastClock(100);
const now = { requestClass: 'person' } as const;

beforeEach(async () => {
  await redis.flushall();
  await start();
});
afterEach(() => end());

async function start(options: SandboxOptions = {}) {
  sandbox = await startSandbox({ sites: 3, clock, ...options });
  ({ budget, client } = open(sandbox));
}
async function end() {
  await client.close();
  await sandbox.stop();
}

const open = ({ url, token }: Sandbox, by: Clock = clock, more: AgencyOptions = {}) =>
  openAgency(redis, by, { baseUrl: url, token, ...more });

const sync = (site_id: string) => client.call('syncSite', { site_id }, now);

describe('a call', () => {
  test('sends token, path, query and body, and returns the answer', async () => {
    const { sites, meta } = await client.call(
      'listSites',
      { perPage: 2, sort: 'url,asc', filters: { connection_status: { eq: 'connected' } } },
      now,
    );
    expect(sites).toHaveLength(2);
    expect(meta?.pagination?.totalItems).toBe(3);

    const { tag } = await client.call('createTag', { body: { tag: { name: 'Überall & nirgends' } } }, now);
    expect(tag).toMatchObject({ name: 'Überall & nirgends' });
    expect(sandbox.journal.requests[0]?.query).toContain('filters%5Bconnection_status%3Aeq%5D=connected');
  });

  test('that deletes returns nothing', async () => {
    expect(await client.call('deleteSite', { site_id: 'site-0001' }, now)).toBeUndefined();
    expect(sandbox.journal.effectsOf('deleteSite')).toEqual(['site-0001']);
  });

  test('is counted once for each request that is really sent', async () => {
    const sent: string[] = [];
    sandbox.failNext({ operation: 'listTags' }, 'status-503');
    await client.call('listTags', {}, { ...now, onRequest: (operation) => sent.push(operation) });
    expect(sent).toEqual(['listTags', 'listTags']);
    expect(sandbox.journal.countOf('listTags')).toBe(2);
  });

  test('calls beforeSend when the budget grants it, and is not sent when that rejects', async () => {
    const told: string[] = [];
    const options = { ...now, onRequest: () => told.push('sent') };
    await client.call('listTags', {}, { ...options, beforeSend: async () => void told.push('let go') });
    expect(told).toEqual(['let go', 'sent']);

    const objecting = { ...options, beforeSend: () => Promise.reject(new Error('not ours any more')) };
    await expect(client.call('listTags', {}, objecting)).rejects.toThrow('not ours any more');
    expect(sandbox.journal.countOf('listTags')).toBe(1);
    await client.call('listTags', {}, now);
  });

  test('returns its answer even when the budget cannot be updated', async () => {
    const log = keptLog();
    const own = await startTestRedis();
    const connection = new Redis({ ...own.options, maxRetriesPerRequest: 0, retryStrategy: () => null });
    connection.on('error', () => undefined);
    const { url: baseUrl, token } = sandbox;
    const { client: alone } = openAgency(connection, clock, { baseUrl, token, log });

    const answer = await alone.call(
      'listTags',
      {},
      { ...now, beforeSend: () => own.stop().then(() => undefined) },
    );

    expect(answer).toHaveProperty('tags');
    expect(log.lines.join()).toContain('the budget could not be updated by an answer');
    await alone.close();
    connection.disconnect();
  });

  test('reports every request that was sent, with its result and how long the answer took to begin', async () => {
    const seen: [string, string, boolean][] = [];
    const { client: own } = open(sandbox, clock, {
      onExchange: (operation, result, ms) => seen.push([operation, result, ms >= 0]),
    });
    sandbox.failNext({ operation: 'listTags' }, 'status-503');
    await own.call('listTags', {}, now);
    sandbox.failNext({ operation: 'syncSite' }, 'reset-before');
    await errorOf(own.call('syncSite', { site_id: 'site-0001' }, now));
    await errorOf(own.call('deleteSite', { site_id: 'nowhere' }, now));
    await own.close();

    expect(seen).toEqual([
      ['listTags', 'unavailable', true],
      ['listTags', 'ok', true],
      ['syncSite', 'unanswered', true],
      ['deleteSite', 'gone', true],
    ]);
  });

  test('that does not match the contract is an error before anything is sent', async () => {
    const wrong = { sort: 'colour,asc', filters: { url: { eq: 'x' } } };
    const error = await errorOf(client.call('listSites', wrong as object, now));

    expect(error).toMatchObject({ code: 'INVALID_INPUT', operation: 'listSites' });
    expect(error.message).toMatch(
      /^listSites: sort: cannot sort by "colour", available: .*; filters\.url\.eq: /,
    );
    expect(sandbox.journal.requests).toHaveLength(0);
  });

  test('encodes an id that looks like a path', async () => {
    expect(await errorOf(client.call('showSite', { site_id: '../clients?x=1' }, now))).toMatchObject({
      code: 'GONE',
    });
    expect(sandbox.journal.requests[0]?.operation).toBe('showSite');
  });
});

describe('a refusal', () => {
  test('404 means gone', async () => {
    expect(await errorOf(client.call('showSite', { site_id: 'nowhere' }, now))).toMatchObject({
      code: 'GONE',
      operation: 'showSite',
    });
  });

  test('409 means that another change is in progress, with the message of the service', async () => {
    sandbox.site('site-0001').syncTakes(86_400_000);
    sandbox.site('site-0001').startSync();
    const error = await errorOf(sync('site-0001'));
    expect(error).toMatchObject({ code: 'CONFLICT', operation: 'syncSite' });
    expect(error).toHaveProperty('problem.message', expect.stringMatching(/sync/i));
  });

  test('422 means rejected, with the code and the message of the service', async () => {
    sandbox.site('site-0001').useUpDailySyncs();
    const error = await errorOf(sync('site-0001'));
    expect(error).toMatchObject({
      code: 'REJECTED',
      status: 422,
      problem: {
        code: 'daily_sync_limit_reached',
        message: expect.stringContaining('on-demand syncs a day'),
      },
    });
  });

  test('401 and 403 mean that the account refuses access, and the message says what to do', async () => {
    sandbox.account.deactivate();
    expect(await errorOf(sync('site-0001'))).toMatchObject({ code: 'ACCOUNT_REFUSED', status: 403 });
    sandbox.account.changeToken('another-token');
    const error = await errorOf(sync('site-0001'));
    expect(error).toMatchObject({ code: 'ACCOUNT_REFUSED', status: 401, account: 'agency' });
    expect(error.message).toContain('check its token');
  });

  test('429 is not an error: the request waits for the next window, and is sent then', async () => {
    sandbox.account.useUpRequests(200);
    await sync('site-0001');
    expect(sandbox.journal.requests.map(({ status }) => status)).toEqual([429, 200]);
    expect(sandbox.journal.effectsOf('syncSite')).toEqual(['site-0001']);
  });

  test('429 immediately releases callers that hold a slot', async () => {
    sandbox.account.useUpRequests(200);
    const error = await errorOf(
      client.call('syncSite', { site_id: 'site-0001' }, { requestClass: 'action', whenSpent: 'leave' }),
    );
    expect(error).toMatchObject({ code: 'BUDGET_SPENT' });
    expect(sandbox.journal.effectsOf('syncSite')).toEqual([]);
  });
});

describe('a service in trouble', () => {
  test.each(['status-503', 'reset-before', 'reset-after', 'truncate'] as const)(
    'a read meets %s and is tried again, three times in all',
    async (kind) => {
      sandbox.failNext({ operation: 'listTags', times: 2 }, kind);
      expect(await client.call('listTags', {}, now)).toHaveProperty('tags');

      sandbox.failNext({ operation: 'listTags', times: 3 }, kind);
      expect(await errorOf(client.call('listTags', {}, now))).toMatchObject({
        code: 'UNAVAILABLE',
        sent: true,
      });
      expect(sandbox.journal.countOf('listTags')).toBe(6);
    },
  );

  test.each([
    { kind: 'status-503', effects: [], says: 'HTTP 503, The service is unavailable', status: 503 },
    { kind: 'reset-before', effects: [], says: 'the connection was cut' },
    { kind: 'reset-after', effects: ['site-0001'], says: 'the connection was cut' },
    { kind: 'truncate', effects: ['site-0001'], says: 'the connection was cut' },
  ] as const)(
    'a change meets $kind, may have happened, and is not sent again',
    async ({ kind, effects, says, ...shown }) => {
      sandbox.failNext({ operation: 'syncSite' }, kind);
      const error = await errorOf(sync('site-0001'));
      expect(error).toBeInstanceOf(UnavailableError);
      expect(error).toMatchObject({ sent: true, operation: 'syncSite', ...shown });
      expect(error.message).toContain(says);
      expect(sandbox.journal.countOf('syncSite')).toBe(1);
      expect(sandbox.journal.effectsOf('syncSite')).toEqual(effects);
    },
  );

  test('a change to a port where nothing listens certainly did not happen', async () => {
    sandbox.outage.begin('refuse');
    const error = await errorOf(sync('site-0001'));
    expect(error).toMatchObject({ sent: false });
    expect(error.message).toBe(
      `syncSite: the service gave no usable answer: nothing listens at ${new URL(sandbox.url).origin} (connection refused); check accounts.agency.base_url.`,
    );
  });

  test('an outage neither uses up the budget of others nor counts as an answer', async () => {
    await client.call('listTags', {}, now);
    expect(await budget.state()).not.toHaveProperty('failingSince');
    sandbox.outage.begin('status-503');
    await errorOf(client.call('listTags', {}, now));
    sandbox.outage.end();
    expect(await budget.state()).toHaveProperty('failingSince');
  });

  test('a service that refuses the account is available', async () => {
    // In real time: a probe gives up when the budget's answer takes two seconds.
    const { client: asking } = open(sandbox, systemClock);
    sandbox.account.deactivate();
    expect(await asking.answers({})).toBe(true);
    sandbox.outage.begin('status-503');
    expect(await asking.answers({})).toBe(false);
    await asking.close();
  });

  test('while no request gets an answer, only reads of a person are retried immediately', async () => {
    sandbox.outage.begin('status-503');
    const sent = async (requestClass: 'person' | 'action') => {
      const before = sandbox.journal.requests.length;
      await errorOf(client.call('listTags', {}, { requestClass }));
      return sandbox.journal.requests.length - before;
    };
    // The first request finds out whether it is down.
    expect([await sent('action'), await sent('action'), await sent('person')]).toEqual([3, 1, 3]);
  });

  test('where nothing listens, a person hears it at once, and other callers try again', async () => {
    await sandbox.stop();
    const sent = async (requestClass: 'person' | 'action') => {
      const asked: string[] = [];
      const error = await errorOf(
        client.call('listTags', {}, { requestClass, onRequest: (id) => asked.push(id) }),
      );
      expect(error).toMatchObject({ message: expect.stringContaining('connection refused') });
      return asked.length;
    };
    expect([await sent('person'), await sent('action')]).toEqual([1, 3]);
  });

  test('a caller that aborts while the service hangs gets its own reason immediately', async () => {
    const began = performance.now();
    sandbox.failNext({ operation: 'listTags' }, 'hang');
    const leaving = new AbortController();
    const call = client.call(
      'listTags',
      {},
      {
        ...now,
        signal: leaving.signal,
        onRequest: () => setImmediate(() => leaving.abort(new Error('we are stopping'))),
      },
    );
    await expect(call).rejects.toThrow('we are stopping');
    // Not after the timeout for the beginning of the answer.
    expect(performance.now() - began).toBeLessThan(9_000);
  });

  test('an aborted call sends nothing', async () => {
    const signal = AbortSignal.abort(new Error('we are stopping'));
    for (const whenSpent of ['wait', 'leave'] as const) {
      await expect(client.call('listTags', {}, { ...now, whenSpent, signal })).rejects.toThrow('stopping');
    }
    expect(sandbox.journal.requests).toHaveLength(0);
  });
});

describe('the time of the service', () => {
  const width = async () => {
    const { earliest, latest } = await client.serviceTime(clock.now(), now);
    return latest - earliest;
  };

  test('is requested once when no answer has shown it yet', async () => {
    expect(client.knownServiceTime(clock.now())).toBeUndefined();
    const [first, second] = [await width(), await width()];

    expect(Math.max(first, second)).toBeLessThan(86_400_000);
    expect(sandbox.journal.requests).toHaveLength(1);
  });

  test('is not requested when an answer has shown it', async () => {
    await client.call('listSites', {}, now);
    expect(await width()).toBeLessThan(86_400_000);
    expect(sandbox.journal.requests).toHaveLength(1);
  });

  test('is known from the creation time of a new item, where it sends no Date', async () => {
    await end();
    await start({ dateHeader: false });
    await client.call('createTag', { body: { tag: { name: 'New' } } }, now);
    expect(client.knownServiceTime(clock.now())).toBeDefined();
  });

  test('that no answer shows is known to a day, and requested only once', async () => {
    await end();
    await start({ dateHeader: false });
    const [first, second] = [await width(), await width()];

    expect([first, second]).toEqual([2 * 86_400_000, 2 * 86_400_000]);
    expect(sandbox.journal.requests).toHaveLength(1);
  });
});

test('a client whose calls are done closes, and its connections with it', async () => {
  const { client: other } = open(sandbox);
  const call = other.call('listTags', {}, now);
  await call;
  await other.close();
  await expect(other.call('showSite', { site_id: 'site-0001' }, now)).rejects.toThrow(
    /UNAVAILABLE|closed|destroyed/,
  );
});
