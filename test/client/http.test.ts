/** One exchange with a service that misbehaves in ways that the sandbox never does. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Budget } from '../../src/budget/budget.ts';
import type { CallOptions, SentRequest } from '../../src/client/call-options.ts';
import type { Client } from '../../src/client/client.ts';
import { UnavailableError } from '../../src/client/errors.ts';
import { Connection } from '../../src/client/http.ts';
import type { Drift } from '../../src/contract/answers.ts';
import { keepSecret } from '../../src/secrets.ts';
import { fastClock } from '../support/caretaker.ts';
import { type FaultyService, sendJson, startFaultyService } from '../support/faulty-service.ts';
import { redisOfFile } from '../support/redis-of-file.ts';
import { errorOf, noTags, openAgency } from './opening.ts';

const { redis } = await redisOfFile();

const TOKEN = 'sesame-open-4711';

let service: FaultyService;
let elsewhere: FaultyService;
let budget: Budget;
let client: Client;
let drift: Drift[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;
// Fast enough for pauses, and slow enough that no window ends while a machine stalls.
const clock = fastClock(10);

beforeAll(() => keepSecret(TOKEN));
beforeEach(async () => {
  await redis.flushall();
  drift = [];
  service = await startFaultyService((request, response) => answer(request, response));
  elsewhere = await startFaultyService((_request, response) => sendJson(response, 200, noTags));
  ({ budget, client } = openAgency(redis, clock, {
    baseUrl: service.url,
    token: TOKEN,
    onDrift: (one) => drift.push(one),
  }));
});
afterEach(async () => {
  await service.stop();
  await elsewhere.stop();
  await client.close();
});

const listTags = (options: Partial<CallOptions> = {}) =>
  client.call('listTags', {}, { requestClass: 'person', ...options });
const syncSite = () => client.call('syncSite', { site_id: 'a' }, { requestClass: 'person' });

describe('a service with several addresses', () => {
  const failed = (code: string, syscall: string) => Object.assign(new Error(code), { code, syscall });
  const refused = failed('ECONNREFUSED', 'connect');

  test.each([
    ['none of them let us connect', [refused, refused], false],
    ['one of them cut the connection', [refused, failed('ECONNRESET', 'read')], true],
  ])('has got nothing, provably, only when %s', async (_, errors, sent) => {
    const connection = new Connection({ name: 'agency', baseUrl: service.url, token: TOKEN });
    // Each address fails in its own way: no real machine can be made to do that.
    Reflect.set(connection, 'pool', { request: () => Promise.reject(new AggregateError(errors)) });

    const exchange = connection.exchange({ operation: 'syncSite', method: 'POST', path: '/sites/a/sync' });

    await expect(exchange).rejects.toMatchObject({ code: 'UNAVAILABLE', sent });
  });
});

test('each request that was sent is described by its template, server, wait, answer and number of resends', async () => {
  answer = ({ url }, response) => {
    if (url === '/moved') return sendJson(response, 200, noTags, { 'x-request-id': 'req-2' });
    sendJson(response, 308, {}, { location: '/moved' });
  };
  const sent: SentRequest[] = [];
  const onSent = (one: SentRequest) => sent.push(one);
  await listTags({ onSent });
  answer = (_request, response) => response.destroy();
  const lost = client.call('syncSite', { site_id: 'a' }, { requestClass: 'person', onSent });
  expect(await errorOf(lost)).toBeInstanceOf(UnavailableError);

  const { hostname, port } = new URL(service.url);
  const same = {
    account: 'agency',
    requestClass: 'person',
    server: { scheme: 'http', address: hostname, port: Number(port) },
    budgetWaitMs: expect.any(Number),
  };
  const tags = { ...same, operation: 'listTags', method: 'GET', template: '/api/v6/tags' };
  expect(sent).toMatchObject([
    { ...tags, status: 308, resends: 0 },
    { ...tags, status: 200, resends: 1, requestId: 'req-2' },
    { ...same, template: '/api/v6/sites/{site_id}/sync', error: 'UND_ERR_SOCKET', resends: 0 },
  ]);
  expect(sent.every(({ sentAt, endedAt }) => sentAt <= endedAt)).toBe(true);
});

describe('redirects', () => {
  test('of a read are followed within the service, each as a request that is counted', async () => {
    answer = ({ url }, response) =>
      url === '/moved'
        ? sendJson(response, 200, noTags)
        : sendJson(response, 308, {}, { location: '/moved' });
    let sent = 0;

    await listTags({
      onRequest: () => {
        sent += 1;
      },
    });

    expect(service.requests).toEqual(['GET /api/v6/tags', 'GET /moved']);
    expect(service.authorizations).toEqual([`Bearer ${TOKEN}`, `Bearer ${TOKEN}`]);
    expect(sent).toBe(2);
    expect((await budget.state()).remaining).toBe(198);
  });

  test('to another origin are not followed: the token is not sent there, and the read is sent again', async () => {
    answer = (_request, response) =>
      sendJson(response, 302, {}, { location: `${elsewhere.url}/tags?sso=secret` });

    const error = await errorOf(listTags());

    expect(error).toBeInstanceOf(UnavailableError);
    expect(error).toMatchObject({ code: 'REDIRECTED', status: 302, sent: true });
    expect(error.message).toBe(
      `${service.url} answers listTags with a redirect to ${elsewhere.origin} (HTTP 302), which is not followed; if it persists, check accounts.agency.base_url.`,
    );
    expect(elsewhere.requests).toEqual([]);
    expect(service.requests).toHaveLength(3);
    expect(await budget.state()).toHaveProperty('failingSince');
  });

  test('to another origin that are temporary only make the read slower', async () => {
    answer = (_request, response) =>
      service.requests.length === 1
        ? sendJson(response, 302, {}, { location: `${elsewhere.url}/tags` })
        : sendJson(response, 200, noTags);

    expect(await listTags()).toEqual(noTags);

    expect(elsewhere.requests).toEqual([]);
    expect(await budget.state()).not.toHaveProperty('failingSince');
  });

  test('of a change are not followed and not repeated: the job reconciles it', async () => {
    answer = (_request, response) => sendJson(response, 307, {}, { location: '/moved' });

    const error = await errorOf(syncSite());

    expect(error).toBeInstanceOf(UnavailableError);
    expect(error).toMatchObject({ code: 'REDIRECTED', operation: 'syncSite', sent: true });
    expect(error.message).toBe(
      `${service.url} answers syncSite with a redirect (HTTP 307), which is not followed; if it persists, check accounts.agency.base_url.`,
    );
    expect(service.requests).toHaveLength(1);
  });

  test('in a circle end after three, for each time that the read is sent', async () => {
    answer = (_request, response) => sendJson(response, 302, {}, { location: '/round' });
    await expect(listTags()).rejects.toMatchObject({ code: 'REDIRECTED' });
    expect(service.requests).toHaveLength(12);
  });

  test.each(['http://', undefined])('to nowhere (%s) are an error like any other', async (location) => {
    answer = (_request, response) => sendJson(response, 302, {}, location === undefined ? {} : { location });
    await expect(listTags()).rejects.toMatchObject({ code: 'REDIRECTED' });
  });
});

describe('a process that is suspended', () => {
  test('while it connects does not send the request late, and reports no failure of the service', async () => {
    const held = fastClock(1);
    const { client: own } = openAgency(redis, held, { baseUrl: service.url, budget });
    const options = {
      requestClass: 'person',
      async beforeSend() {
        // After the request was handed over, and before the connection is open.
        setImmediate(() => held.leap(60_000));
        return held.now() + 5_000;
      },
    } as const;

    const sending = own.call('syncSite', { site_id: 'a' }, options);

    await expect(sending).rejects.toMatchObject({ code: 'UNAVAILABLE', sent: false });
    await expect(sending).rejects.toThrow('was suspended, and did not send the request late');
    expect(service.requests).toEqual([]);
    expect(await budget.state()).not.toHaveProperty('failingSince');
    await own.close();
  });
});

describe('a body', () => {
  test('of more than 10 MiB is not read completely', async () => {
    let written = 0;
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(1024 * 1024, ' '))) written += 1;
      };
      response.on('drain', more);
      more();
    };

    await expect(syncSite()).rejects.toThrow('its answer is larger than 10 MiB');

    expect(written).toBeLessThan(100);
  });

  test('that was compressed is read as it was, up to the same size', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    answer = (_request, response) => response.writeHead(200, headers).end(gzipSync(JSON.stringify(noTags)));
    expect((await listTags()).tags).toEqual([]);

    answer = (_request, response) =>
      response.writeHead(200, headers).end(gzipSync(Buffer.alloc(11 * 1024 * 1024, ' ')));
    await expect(syncSite()).rejects.toThrow('its answer is larger than 10 MiB');
  });

  test('that is not JSON is not a usable answer', async () => {
    answer = (_request, response) => {
      response.end('<html>All is well</html>');
    };
    await expect(syncSite()).rejects.toMatchObject({ code: 'UNAVAILABLE', sent: true, status: 200 });
  });

  test('of a read that lacks a needed field is requested again, and then reported', async () => {
    answer = (_request, response) => sendJson(response, 200, { tags: 'none' });
    await expect(listTags()).rejects.toMatchObject({ code: 'CONTRACT_BROKEN', operation: 'listTags' });
    expect(service.requests).toHaveLength(3);
  });

  test('that differs from the contract is used as far as possible, and the difference is reported', async () => {
    answer = (_request, response) =>
      sendJson(response, 200, {
        ...noTags,
        tags: [{ id: '7', name: 'vip', color: 7, site_ids: [], more: 1 }],
      });
    expect((await listTags()).tags).toMatchObject([{ id: '7', name: 'vip' }]);
    expect(drift).toContainEqual(expect.objectContaining({ operation: 'listTags', field: 'tags.*.color' }));
  });

  test.each([404, 401, 429, 302])(
    'of an answer %i that is not read may be cut without harm',
    async (status) => {
      answer = (_request, response) => {
        if (service.requests.length > 1) return sendJson(response, 200, noTags);
        response.writeHead(status, { 'content-length': '1000', 'x-ratelimit-reset': '1' });
        response.write('half', () => response.destroy());
      };
      await listTags().catch(() => undefined);
      answer = (_request, response) => sendJson(response, 200, noTags);
      await listTags();
    },
  );

  test('that is cut while Redis does not answer is a lost answer and no crash', async () => {
    let cut = () => undefined as unknown;
    answer = (_request, response) => {
      const paused = redis.call('CLIENT', 'PAUSE', '150', 'WRITE');
      void paused.then(() => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"sync":');
        cut = () => response.destroy();
        // The head is on its way to a client that now waits for Redis.
        setImmediate(() => setImmediate(() => cut()));
      });
    };
    await expect(syncSite()).rejects.toMatchObject({ code: 'UNAVAILABLE', sent: true });
  });

  test('whose reader gives up ends with the reader’s reason', async () => {
    const leaving = new AbortController();
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"tags":', () => setTimeout(() => leaving.abort(new Error('we are stopping')), 20));
    };
    await expect(listTags({ signal: leaving.signal })).rejects.toThrow('we are stopping');
  });
});

describe('an error', () => {
  test('does not show the token, even when the service repeats it', async () => {
    answer = ({ headers }, response) =>
      sendJson(response, 422, { error: { message: `No good: ${headers.authorization}` } });
    const error = await errorOf(syncSite());
    expect(error).toMatchObject({ code: 'REJECTED', problem: { message: 'No good: Bearer [hidden]' } });
    expect(JSON.stringify([error, error.message])).not.toContain(TOKEN);
  });

  test('without a message from the service is still a whole sentence', async () => {
    answer = (_request, response) => {
      response.writeHead(422).end();
    };
    await expect(syncSite()).rejects.toThrow('syncSite was rejected (HTTP 422): it gave no reason');
  });
});

describe('a PDF', () => {
  const PDF = `%PDF-1.7\n${'a page '.repeat(5_000)}\n%%EOF\n`;
  const download = () => client.download('downloadReport', { report_id: 'r' }, { requestClass: 'person' });
  const text = async () => Buffer.concat(await (await download()).toArray()).toString();
  const answerWith = (body: Buffer, headers: Record<string, string> = {}) => {
    answer = (_request, response) =>
      response.writeHead(200, { 'content-type': 'application/pdf', ...headers }).end(body);
  };

  test('is streamed', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/pdf' });
      response.write('%PD');
      setImmediate(() => response.end('F-1.7'));
    };
    expect(await text()).toBe('%PDF-1.7');
  });

  test.each<[string, (body: Buffer) => Buffer]>([
    ['gzip', (body) => gzipSync(body)],
    ['x-gzip', (body) => gzipSync(body)],
    ['deflate', (body) => deflateSync(body)],
    ['deflate', (body) => deflateRawSync(body)],
    ['br', (body) => brotliCompressSync(body)],
    ['identity', (body) => body],
  ])('that was compressed as %s comes as it was', async (encoding, compress) => {
    answerWith(compress(Buffer.from(PDF)), { 'content-encoding': encoding });
    expect(await text()).toBe(PDF);
  });

  test.each([
    ['compressed in an unknown way', 'zstd', Buffer.from(PDF), 'its answer is compressed as zstd'],
    [
      'compressed as something that is no encoding',
      'constructor',
      Buffer.from(PDF),
      'its answer is compressed as constructor',
    ],
    ['compressed twice', 'gzip, br', Buffer.from(PDF), 'its answer is compressed as gzip, br'],
    [
      'not compressed as it says',
      'gzip',
      Buffer.from(PDF),
      'its answer cannot be decompressed as gzip (incorrect header check)',
    ],
    [
      'compressed and cut',
      'gzip',
      gzipSync(PDF).subarray(0, -20),
      'its answer cannot be decompressed as gzip (unexpected end of file)',
    ],
    ['compressed without saying so', '', gzipSync(PDF), 'its answer is not a PDF'],
    ['a page for a browser', '', Buffer.from('<html>Please wait</html>'), 'its answer is not a PDF'],
    ['nothing', '', Buffer.alloc(0), 'its answer is not a PDF'],
  ])('that is %s is no usable answer', async (_what, encoding, body, says) => {
    answerWith(body, encoding === '' ? {} : { 'content-encoding': encoding });
    await expect(text()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `downloadReport: the service gave no usable answer: ${says}.`,
    });
  });

  test('that is cut is not a usable answer, with or without a content length', async () => {
    const half = PDF.slice(0, 20_000);
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/pdf', 'content-length': String(PDF.length) });
      response.write(half, () => response.destroy());
    };
    await expect(text()).rejects.toThrow('the connection was cut');

    // With neither length nor chunks, the end of the connection is the end of the file.
    const unframed = (body: string) => {
      answer = ({ socket }) =>
        socket.end(`HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nConnection: close\r\n\r\n${body}`);
    };
    unframed(half);
    await expect(text()).rejects.toThrow('its PDF is incomplete');
    unframed(PDF);
    expect(await text()).toBe(PDF);
  });

  test('that decompresses to an endless body costs only what its reader reads', async () => {
    answerWith(gzipSync(Buffer.concat([Buffer.from('%PDF-'), Buffer.alloc(16 * 1024 * 1024)])), {
      'content-encoding': 'gzip',
    });
    let size = 0;
    for await (const chunk of await download()) {
      size += chunk.length;
      if (size > 1_000_000) break;
    }
    expect(size).toBeLessThan(1_200_000);
  });
});
