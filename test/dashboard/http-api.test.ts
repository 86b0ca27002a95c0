/** The HTTP API for changes, on a real dashboard: commands, idempotency keys, problems and the OpenAPI document. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { commands } from '../../src/control/commands.ts';
import { openApiDocument } from '../../src/dashboard/api/openapi.ts';
import { routes } from '../../src/dashboard/http/routes.ts';
import type { RunSummary } from '../../src/run/report.ts';
import { aPolicy, PASSWORD, showDaemon, startWorld, type World } from './world.ts';

let world: World;
const start = async () => {
  world = await startWorld({ policies: () => [aPolicy('nightly-sync')] });
};
const stop = () => world.stop();

interface Answer {
  status: number;
  type: string | null;
  body: Record<string, unknown>;
}

async function send(
  method: string,
  path: string,
  { body, key, token = PASSWORD }: { body?: unknown; key?: string; token?: string } = {},
): Promise<Answer> {
  const answer = await world.ask(`/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    body: (await answer.json()) as Record<string, unknown>,
  };
}
const post = (path: string, body?: unknown, key?: string) =>
  send('POST', path, { body, ...(key === undefined ? {} : { key }) });

describe('acts', () => {
  beforeEach(start);
  afterEach(stop);

  test('a program runs a policy, and follows the run by its id', async () => {
    await showDaemon(world.records, ['worker']);
    const { status, body } = await post('/policies/nightly-sync/run', { targets: ['a'], reason: 'new site' });

    expect(status).toBe(200);
    const { run, ...rest } = body['run'] as RunSummary;
    expect(rest).toMatchObject({ policy: 'nightly-sync', status: 'queued', trigger: 'manual' });
    expect((await send('GET', `/runs/${run}`)).body).toMatchObject({ run, status: 'queued' });
  });

  test('20 equal requests at once with one key make one run and get the same answer', async () => {
    await showDaemon(world.records, ['worker']);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post('/policies/nightly-sync/run', { reason: 'once' }, 'key-1')),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await world.records.runs.list({ limit: 30 })).toHaveLength(1);

    const other = await post('/policies/nightly-sync/run', { reason: 'another' }, 'key-1');
    expect(other).toMatchObject({ status: 422, body: { code: 'KEY_REUSED' } });
    const third = await post('/policies/nightly-sync/run', { reason: 'once' }, 'key-2');
    expect(third.status).toBe(200);
    expect(await world.records.runs.list({ limit: 30 })).toHaveLength(2);
  });

  test('the audit log shows acts of programs, newest first, and can be read by the page', async () => {
    await post('/policies/nightly-sync/pause', { reason: 'one' });
    await post('/policies/nightly-sync/resume', { reason: 'two' });
    await post('/runs/nothing/cancel', {});
    const all = await send('GET', '/audit');
    expect(all.body).toMatchObject({
      lines: [
        { what: 'policies.resume', result: 'done', policy: 'nightly-sync', why: 'two', from: '127.0.0.1' },
        { what: 'policies.pause', result: 'done', why: 'one' },
      ],
      next: null,
    });
    const first = await send('GET', '/audit?limit=1');
    const second = await send('GET', `/audit?limit=1&after=${String(first.body['next'])}`);
    expect(second.body).toMatchObject({ lines: [{ what: 'policies.pause' }], next: null });
    expect((await send('GET', '/audit?what=policies.pause')).body['lines']).toHaveLength(1);
    expect((await send('GET', '/audit?who=nobody')).body['lines']).toEqual([]);
  });
});

describe('what changes nothing', () => {
  beforeAll(start);
  afterAll(stop);

  test.each([
    ['POST', '/policies/nothing/run', {}, 404, 'NOT_FOUND', 'No active policy has the name "nothing".'],
    ['POST', '/runs/nothing/cancel', {}, 404, 'NOT_FOUND', 'There is no run "nothing".'],
    ['POST', '/policies/nightly-sync/run', { target: 'a' }, 400, 'INVALID_REQUEST', 'target'],
    ['POST', '/policies/nightly-sync/run', '{', 400, 'INVALID_REQUEST', 'The body is not JSON.'],
    ['POST', '/policies/nightly-sync/run', [], 400, 'INVALID_REQUEST', 'The body must be a JSON object.'],
    [
      'POST',
      '/policies/nightly-sync/run',
      { detach: true },
      409,
      'NO_WORKER',
      'No daemon with the worker role',
    ],
    ['POST', '/freezes', { until: '2020-01-01T00:00:00Z' }, 400, 'INVALID_REQUEST', 'must be in the future'],
    [
      'POST',
      '/freezes',
      { until: '1h', account: 'defualt' },
      400,
      'INVALID_REQUEST',
      'There is no account "defualt": did you mean default?',
    ],
    [
      'POST',
      '/freezes',
      { until: '1h', job: 'site-snyc' },
      400,
      'INVALID_REQUEST',
      'There is no job "site-snyc"',
    ],
    ['POST', '/nothing', {}, 404, 'NOT_FOUND', 'There is no such endpoint'],
    ['GET', '/runs/nothing', undefined, 404, 'NOT_FOUND', 'There is no run "nothing"'],
    ['GET', '/runs?limit=0', undefined, 400, 'INVALID_REQUEST', 'limit'],
    ['GET', '/audit?who=', undefined, 400, 'INVALID_REQUEST', 'who'],
    ['GET', '/nothing', undefined, 404, 'NOT_FOUND', 'There is no such endpoint'],
    ['GET', '/runs?__proto__=x', undefined, 400, 'INVALID_REQUEST', '__proto__'],
    ['GET', '/runs?constructor=x', undefined, 400, 'INVALID_REQUEST', 'constructor'],
    ['GET', '/runs?toString=x', undefined, 400, 'INVALID_REQUEST', 'toString'],
  ])('%s %s with %j is answered by a problem document', async (method, path, body, status, code, detail) => {
    const answer = await send(method, path, { ...(body === undefined ? {} : { body }) });
    expect(answer).toMatchObject({
      status,
      type: 'application/problem+json',
      body: { type: 'about:blank', status, code, detail: expect.stringContaining(detail) },
    });
  });

  test('a request with a wrong token, from another site, or with a large body is answered by a problem document', async () => {
    const wrong = await send('POST', '/freezes', { token: 'wrong', body: {} });
    expect(wrong).toMatchObject({ status: 401, type: 'application/problem+json', body: { code: 'SIGN_IN' } });
    const foreign = await world.ask('/api/v1/freezes', {
      method: 'POST',
      headers: { origin: 'http://evil' },
    });
    expect(foreign.status).toBe(403);
    expect(await foreign.json()).toMatchObject({ code: 'WRONG_ORIGIN' });
    const large = await post('/freezes', { reason: 'x'.repeat(300_000) });
    expect(large).toMatchObject({ status: 413, body: { code: 'TOO_LARGE' } });
  });

  test('the OpenAPI document is valid', async () => {
    const { body } = await send('GET', '/openapi.json');
    const checked = await new Validator().validate(body);
    expect(checked.errors ?? []).toEqual([]);
    expect(checked.valid).toBe(true);
    const tags = body['tags'] as { name: string; description?: string }[];
    expect(tags.filter(({ description }) => !description)).toEqual([]);
  });

  test('an address with another method, a body of another type and an unknown parameter are refused in words', async () => {
    const ask = (path: string, init: RequestInit = {}) =>
      world.ask(`/api/v1${path}`, {
        ...init,
        headers: { authorization: `Bearer ${PASSWORD}`, ...init.headers },
      });
    const problemOf = async (answer: Response) => [
      answer.status,
      ((await answer.json()) as { detail: string }).detail,
    ];

    const method = await ask('/runs', { method: 'DELETE' });
    expect(method.headers.get('allow')).toBe('GET, HEAD');
    expect(await problemOf(method)).toEqual([
      405,
      'This endpoint is for GET alone; GET /api/v1/openapi.json describes all endpoints.',
    ]);
    const text = await ask('/policies/sync/run', {
      method: 'POST',
      body: 'now',
      headers: { 'content-type': 'text/plain' },
    });
    expect(text.status).toBe(415);
    expect(await problemOf(await ask('/runs?statuss=failed&limit=0'))).toEqual([
      400,
      'The request is not valid: limit must be at least 1; there is no field "statuss" (did you mean status).',
    ]);
    expect(await problemOf(await ask('/runs?status=broken'))).toEqual([
      400,
      expect.stringMatching(/^The request is not valid: status is not one of active, queued, /),
    ]);
  });
});

test('the OpenAPI document has every address of the API, and no other', () => {
  const { paths } = openApiDocument() as { paths: Record<string, Record<string, unknown>> };
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`),
  );
  const served = routes
    .filter(({ path }) => path.startsWith('/api/'))
    .map(({ method, path }) => `${method} ${path.replace(/:\w+/g, '{}')}`);
  expect(described.sort()).toEqual(served.sort());
});

test('every command has its own name and address', () => {
  const addresses = commands.map(({ reads, path }) => `${reads ? 'GET' : 'POST'} ${path}`);
  expect(new Set(addresses).size).toBe(commands.length);
  expect(new Set(commands.map(({ name }) => name)).size).toBe(commands.length);
});
