/** Answers of the service that do not follow the specification exactly, and their meaning. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Budget } from '../../src/budget/budget.ts';
import type { Client } from '../../src/client/client.ts';
import { UnreadableError } from '../../src/client/errors.ts';
import { fastClock } from '../support/caretaker.ts';
import { type FaultyService, sendJson, startFaultyService } from '../support/faulty-service.ts';
import { heldClock } from '../support/held-clock.ts';
import { redisOfFile } from '../support/redis-of-file.ts';
import { errorOf, noTags, openAgency } from './opening.ts';

const { redis } = await redisOfFile();

const rate = { 'X-RateLimit-Limit': '200', 'X-RateLimit-Remaining': '150', 'X-RateLimit-Reset': '30' };
const html = { 'content-type': 'text/html; charset=utf-8' };
const page = '<html><head><title>The site is locked.</title></head><body>Sorry</body></html>';

let service: FaultyService;
let budget: Budget;
let client: Client;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
// Fast enough for pauses, and slow enough that no window ends while a machine stalls.
const clock = fastClock(10);

beforeEach(async () => {
  await redis.flushall();
  service = await startFaultyService((request, response) => answer(request, response));
  ({ budget, client } = openAgency(redis, clock, { baseUrl: service.url }));
});
afterEach(async () => {
  await client.close();
  await service.stop();
});

const listTags = () => client.call('listTags', {}, { requestClass: 'person' });
const syncSite = () => client.call('syncSite', { site_id: 'a' }, { requestClass: 'person' });
const deleteTag = () => client.call('deleteTag', { tag_id: '7' }, { requestClass: 'person' });
const createTag = () =>
  client.call('createTag', { body: { tag: { name: 'vip' } } }, { requestClass: 'person' });

describe('an answer with the rate headers of the service', () => {
  test.each([
    [400, { code: 'REJECTED', status: 400, problem: { message: 'The site is locked. Sorry' } }],
    [404, { code: 'GONE', problem: { message: 'The site is locked. Sorry' } }],
    [409, { code: 'CONFLICT', problem: { message: 'The site is locked. Sorry' } }],
    [422, { code: 'REJECTED', status: 422, problem: { message: 'The site is locked. Sorry' } }],
  ])('is the service’s answer to a change, be it a web page with HTTP %i', async (status, expected) => {
    answer = (_request, response) => response.writeHead(status, { ...html, ...rate }).end(page);
    expect(await errorOf(syncSite())).toMatchObject(expected);
    expect(service.requests).toHaveLength(1);
  });

  test('shows that a change was made, even as a web page with HTTP 200', async () => {
    answer = (_request, response) => response.writeHead(200, { ...html, ...rate }).end(page);
    expect(await deleteTag()).toBeUndefined();
  });

  test.each([204, 200, 201])(
    'shows that a change was made, even with an empty body (HTTP %i)',
    async (status) => {
      answer = (_request, response) => response.writeHead(status, rate).end();
      const error = await errorOf(createTag());
      expect(error).toBeInstanceOf(UnreadableError);
      expect(error.message).toBe('createTag: the service gave no usable answer: its answer is empty.');
      expect(service.requests).toHaveLength(1);
    },
  );

  test('shows nothing when something else answered the change', async () => {
    answer = (_request, response) => response.writeHead(200).end();
    expect(await errorOf(createTag())).not.toBeInstanceOf(UnreadableError);
  });

  test('shows that an item in the body does not exist, even if the path has no id', async () => {
    answer = (_request, response) => sendJson(response, 404, { error: 'No such site.' }, rate);
    expect(await errorOf(createTag())).toMatchObject({ code: 'GONE' });
  });

  test('with 404 for the path of a list is not a usable answer: the list is requested again', async () => {
    answer = (_request, response) => response.writeHead(404, { ...html, ...rate }).end(page);
    expect((await errorOf(listTags())).message).toBe(
      'listTags: the service gave no usable answer: it answers listTags with HTTP 404.',
    );
    expect(service.requests).toHaveLength(3);
  });
});

describe('an answer about another item than the one that was asked for', () => {
  const showTag = (tag_id: string) => client.call('showTag', { tag_id }, { requestClass: 'person' });
  const tag = (id: unknown) => ({ tag: { id, name: 'vip' } });

  test('is refused, and asked for again', async () => {
    const ids = ['8', '8', '7'];
    answer = (_request, response) => sendJson(response, 200, tag(ids.shift()), rate);
    expect((await showTag('7')).tag.id).toBe('7');
    expect(service.requests).toHaveLength(3);

    answer = (_request, response) => sendJson(response, 200, tag('8'), rate);
    expect((await errorOf(showTag('7'))).message).toBe(
      'showTag answered something we cannot use: tag.id is not the one that was asked for.',
    );
  });

  test('is none where the id is sent as a number, or an item may be asked for by something else', async () => {
    answer = (_request, response) => sendJson(response, 200, tag(7), rate);
    expect((await showTag('7')).tag.id).toBe('7');

    const backup_destination = { id: 'destination-1', provider: 'provider_one' };
    answer = (_request, response) => sendJson(response, 200, { backup_destination }, rate);
    const asked = { backup_destination_id: 'provider_one' };
    const shown = await client.call('showBackupDestination', asked, { requestClass: 'person' });
    expect(shown.backup_destination.id).toBe('destination-1');
  });
});

describe('once the service has answered', () => {
  beforeEach(async () => {
    answer = (_request, response) => sendJson(response, 200, noTags);
    await listTags();
  });

  test('a web page of a proxy is a lost answer, and a read is sent again', async () => {
    answer = (_request, response) => response.writeHead(404, html).end(page);
    expect(await errorOf(listTags())).toMatchObject({
      code: 'UNAVAILABLE',
      message: 'listTags: the service gave no usable answer: it answers listTags with a web page (HTTP 404).',
    });
    expect(service.requests).toHaveLength(4);
    expect(await errorOf(deleteTag())).toMatchObject({ code: 'UNAVAILABLE', sent: true });
  });

  test('a cut connection is no reason to suggest https', async () => {
    answer = (_request, response) => response.destroy();
    expect((await errorOf(syncSite())).message).toBe(
      'syncSite: the service gave no usable answer: the connection was cut.',
    );
  });

  test('an unavailable service is no reason to suggest base_url', async () => {
    await service.stop();
    const error = await errorOf(syncSite());
    expect(error).toMatchObject({ sent: false });
    expect(error.message).toContain('(connection refused).');
  });

  test('bytes that are not HTTP are a lost answer, and not another protocol', async () => {
    answer = (_request, response) => {
      response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n');
    };
    const error = await errorOf(syncSite());
    expect(error).toMatchObject({ code: 'UNAVAILABLE', sent: true });
    expect(error.message).toContain('its answer is not valid HTTP');
  });
});

describe('a body', () => {
  test('of JSON is read, whatever its content type', async () => {
    for (const type of ['text/html', 'text/plain; charset=utf-8', 'application/vnd.api+json', undefined]) {
      answer = (_request, response) =>
        response
          .writeHead(200, type === undefined ? {} : { 'content-type': type })
          .end(JSON.stringify(noTags));
      expect(await listTags()).toEqual(noTags);
    }
    answer = (_request, response) =>
      response
        .writeHead(422, { 'content-type': 'text/html' })
        .end(JSON.stringify({ error: { message: 'No.' } }));
    expect(await errorOf(syncSite())).toMatchObject({ code: 'REJECTED', problem: { message: 'No.' } });
  });

  test.each([
    ['with a byte order mark', 'application/json', Buffer.from(`\uFEFF${JSON.stringify(tagged('Zürich'))}`)],
    ['in another encoding', 'application/json; charset=ISO-8859-1', latin1('Zürich')],
    ['in another encoding, quoted', 'application/json;charset="iso-8859-1"', latin1('Zürich')],
    ['in UTF-8 that is called another', 'application/json; charset=iso-8859-1', utf8('Zürich')],
    ['in an encoding that there is not', 'application/json; charset=martian', utf8('Zürich')],
  ])('%s is read', async (_what, type, body) => {
    answer = (_request, response) => response.writeHead(200, { 'content-type': type }).end(body);
    expect((await listTags()).tags).toMatchObject([{ name: 'Zürich' }]);
  });

  test('without a content length is read to its end', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
      response.write(JSON.stringify(noTags).slice(0, 9));
      setImmediate(() => response.end(JSON.stringify(noTags).slice(9)));
    };
    expect(await listTags()).toEqual(noTags);
  });

  test('of a change without an answer is not read', async () => {
    answer = (_request, response) => sendJson(response, 200, { deleted: true });
    expect(await deleteTag()).toBeUndefined();
  });

  test('with another success status than the specification has is a success', async () => {
    answer = (_request, response) => sendJson(response, 200, { tag: { id: '7', name: 'vip' } });
    expect(await createTag()).toMatchObject({ tag: { id: '7' } });
    answer = (_request, response) => sendJson(response, 202, { tag: { id: '7', name: 'vip' } });
    expect(await createTag()).toMatchObject({ tag: { id: '7' } });
  });

  test('after a 204 does not disturb the next request', async () => {
    answer = ({ method }, response) => {
      if (method === 'GET') return sendJson(response, 200, noTags);
      response.socket?.write('HTTP/1.1 204 No Content\r\nContent-Length: 16\r\n\r\n{"deleted":true}');
    };
    expect(await deleteTag()).toBeUndefined();
    expect(await listTags()).toEqual(noTags);
  });

  test('after informational responses (1xx) is read', async () => {
    answer = (_request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      sendJson(response, 200, noTags);
    };
    expect(await listTags()).toEqual(noTags);
  });
});

describe('rate headers', () => {
  const stateAfter = async (headers: Record<string, string | string[]>) => {
    answer = (_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(noTags));
    await listTags();
    return budget.state();
  };

  test('are read, and correct the budget', async () => {
    const headers = { 'x-ratelimit-limit': '120', 'x-ratelimit-remaining': ' 7', 'x-ratelimit-reset': '42' };
    const before = clock.now();
    const { limit, remaining, resetsAt } = await stateAfter(headers);
    expect({ limit, remaining }).toEqual({ limit: 120, remaining: 7 });
    expect(resetsAt).toBeGreaterThanOrEqual(before + 42_000);
    expect(resetsAt).toBeLessThan(clock.now() + 42_000 + 1);
  });

  test.each(['1795262400', 'soon', '-1', '1e3'])(
    'that make no sense (%s) are not believed',
    async (reset) => {
      const { resetsAt } = await stateAfter({
        'x-ratelimit-limit': '120',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': reset,
      });
      expect(resetsAt).toBeLessThanOrEqual(clock.now() + 60_000);
      await listTags();
    },
  );

  test('of a failed request do not count as a usable answer', async () => {
    answer = (_request, response) => sendJson(response, 500, {});
    await errorOf(syncSite());
    expect(await budget.state()).toHaveProperty('failingSince');
  });

  test('that come twice, in any letter case and with their window are read', async () => {
    const headers = {
      'x-RATELIMIT-limit': ['120', '120'],
      'X-RATELIMIT-REMAINING': '7, 7',
      'X-RateLimit-Reset': '41.5;w=60',
    };
    expect(await stateAfter(headers)).toMatchObject({ limit: 120, remaining: 7 });
  });

  test('that come twice and differ are ignored: some come from a proxy', async () => {
    const headers = {
      'X-RateLimit-Limit': ['200', '5000'],
      'X-RateLimit-Remaining': ['150', '4999'],
      'X-RateLimit-Reset': '30',
    };
    expect(await stateAfter(headers)).toMatchObject({ limit: 200, remaining: 199 });
  });

  test.each([
    ['in seconds', () => '20'],
    ['as a moment', () => new Date(Date.parse('2026-11-22T12:00:20Z')).toUTCString()],
  ])('a 429 without them is waited out for as long as Retry-After says, %s', async (_form, retryAfter) => {
    answer = (_request, response) => {
      if (service.requests.length > 1) return sendJson(response, 200, noTags);
      const date = new Date('2026-11-22T12:00:00Z').toUTCString();
      sendJson(response, 429, {}, { 'retry-after': retryAfter(), date });
    };
    const held = heldClock();
    const { client: patient } = openAgency(redis, held, { baseUrl: service.url });
    const before = held.now();
    let isDone = false;
    const listed = patient.call('listTags', {}, { requestClass: 'person' }).then(() => {
      isDone = true;
    });
    while (!isDone) {
      if (held.sleepers() > 0) await held.advance(1_000);
      await nextTurn();
    }
    await listed;
    await patient.close();
    const waitedMs = held.now() - before;
    expect(waitedMs).toBeGreaterThanOrEqual(20_000);
    expect(waitedMs).toBeLessThan(55_000);
  });
});

function tagged(name: string) {
  return { ...noTags, tags: [{ id: '7', name }] };
}
function utf8(name: string): Buffer {
  return Buffer.from(JSON.stringify(tagged(name)));
}
function latin1(name: string): Buffer {
  return Buffer.from(JSON.stringify(tagged(name)), 'latin1');
}
