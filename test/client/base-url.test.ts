/** Servers at a wrong base URL, and the messages about them. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { fastClock } from '../support/caretaker.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from '../support/certificate.ts';
import { type FaultyService, sendJson, startFaultyService } from '../support/faulty-service.ts';
import { redisOfFile } from '../support/redis-of-file.ts';
import { errorOf, openAgency } from './opening.ts';

const { redis } = await redisOfFile();

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

let service: FaultyService;
let respond: Respond;
const clock = fastClock(100);
const open = new Set<Client | Server>();

beforeEach(async () => {
  await redis.flushall();
  service = await startFaultyService((request, response) => respond(request, response));
});
afterEach(async () => {
  for (const one of open) await one.close();
  open.clear();
  await service.stop();
});

function clientOf(baseUrl: string): Client {
  const { client } = openAgency(redis, clock, { baseUrl });
  open.add(client);
  return client;
}

const listTags = (baseUrl: string) => clientOf(baseUrl).call('listTags', {}, { requestClass: 'person' });
const page = (status: number): Respond => {
  return (_request, response) =>
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end('<h1>Welcome</h1>');
};

/** A server that answers the first bytes with bytes of its own, and closes. */
async function startPlainServer(answer: Buffer): Promise<number> {
  const plain = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.end(answer));
  });
  open.add(plain);
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  return (plain.address() as AddressInfo).port;
}

test.each<{ name: string; respond: Respond; why: string }>([
  {
    name: 'another version of the API',
    respond: (_request, response) => sendJson(response, 404, { error: 'Not Found' }),
    why: 'it answers listTags with HTTP 404',
  },
  {
    name: 'another version of the API, of the service itself',
    respond: (_request, response) =>
      response
        .writeHead(404, { 'content-type': 'application/json', 'x-ratelimit-remaining': '100' })
        .end('{"code":"no_such_path"}'),
    why: 'it answers listTags with HTTP 404',
  },
  { name: 'another web server', respond: page(404), why: 'it answers listTags with a web page (HTTP 404)' },
  { name: 'a page for browsers', respond: page(200), why: 'it answers listTags with a web page (HTTP 200)' },
  {
    name: 'a web server that wants https',
    respond: page(400),
    why: 'it answers listTags with a web page (HTTP 400)',
  },
  {
    name: 'another service',
    respond: (_request, response) => sendJson(response, 200, { hello: 'world' }),
    why: 'it answers listTags with JSON of another kind',
  },
])('$name at the base URL is told in one sentence, and asked once', async ({ respond: given, why }) => {
  respond = given;

  const error = await errorOf(listTags(service.url));

  expect(error).toMatchObject({ code: 'NOT_THE_SERVICE', sent: true });
  expect(error.message).toBe(
    `${service.url} does not look like the Site Management Service API (${why}); check accounts.agency.base_url.`,
  );
  expect(service.requests).toHaveLength(1);
});

test('a web page of a proxy during an outage is an outage', async () => {
  respond = page(502);
  expect(await errorOf(listTags(service.url))).toMatchObject({ code: 'UNAVAILABLE', status: 502 });
  expect(service.requests).toHaveLength(3);
});

test('an item that does not exist is gone, whatever the JSON body contains', async () => {
  respond = (_request, response) => sendJson(response, 404, {});
  const call = clientOf(service.url).call('showTag', { tag_id: '7' }, { requestClass: 'person' });
  expect(await errorOf(call)).toMatchObject({ code: 'GONE' });
});

test('a change that is answered with a web page may have happened', async () => {
  respond = page(200);
  const call = clientOf(service.url).call('deleteTag', { tag_id: '7' }, { requestClass: 'action' });
  expect(await errorOf(call)).toMatchObject({ code: 'NOT_THE_SERVICE', sent: true });
});

test('https:// for an http:// server: no raw message of the TLS library, and nothing was sent', async () => {
  const url = service.url.replace('http:', 'https:');

  const error = await errorOf(listTags(url));

  expect(error).toMatchObject({ code: 'NOT_THE_SERVICE', sent: false });
  expect(error.message).toBe(
    `${url} does not look like the Site Management Service API (base_url has https://, and the server there does not use TLS); check accounts.agency.base_url.`,
  );
});

test('http:// for another protocol is reported as that', async () => {
  const alert = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x46]);
  const error = await errorOf(listTags(`http://127.0.0.1:${await startPlainServer(alert)}/api/v6`));
  expect(error).toMatchObject({ code: 'NOT_THE_SERVICE' });
  expect(error.message).toContain('(base_url has http://, and the server there does not use plain HTTP)');
});

test('http:// with connections that are always cut: the message suggests https', async () => {
  const port = await startPlainServer(Buffer.alloc(0));
  const error = await errorOf(listTags(`http://127.0.0.1:${port}/api/v6`));
  expect(error).toMatchObject({ code: 'UNAVAILABLE' });
  expect(error.message).toContain('if it requires https://, change accounts.agency.base_url.');
});

test('an unknown host: nothing was sent, and the message names the setting', async () => {
  const error = await errorOf(listTags('http://caretaker.invalid/api/v6'));
  expect(error).toMatchObject({ code: 'UNAVAILABLE', sent: false });
  expect(error.message).toMatch(/; check accounts\.agency\.base_url\.$/);
});

test('with an untrusted certificate nothing is sent, and the message suggests a setting', async () => {
  const requests: string[] = [];
  const secure = createTlsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, ({ url = '' }, response) => {
    requests.push(url);
    response.end();
  });
  open.add(secure);
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
  const client = clientOf(`https://127.0.0.1:${(secure.address() as AddressInfo).port}/api/v6`);

  const error = await errorOf(client.call('syncSite', { site_id: 'site-0001' }, { requestClass: 'person' }));

  expect(error).toMatchObject({ sent: false });
  expect(error.message).toMatch(/the certificate of https:\S+ cannot be trusted .*NODE_EXTRA_CA_CERTS/);
  expect(requests).toEqual([]);
});
