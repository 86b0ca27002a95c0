/** A slow service is not a Redis that does not answer. */
import { Hono } from 'hono';
import { afterEach, expect, test } from 'vitest';
import type { Env } from '../../src/dashboard/http/context.ts';
import { inTime } from '../../src/dashboard/http/in-time.ts';
import { CaretakerError } from '../../src/errors.ts';
import { aPolicy, startWorld, type World } from './world.ts';

let world: World | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

function deferred<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** Each request is answered when the test says so. */
function server(redisAnswers: () => boolean) {
  const app = new Hono<Env>();
  const { promise: end, resolve: answer } = deferred<void>();
  let questions = 0;
  app.use(
    inTime({ redisMs: 5, actMs: 20 }, async () => {
      questions += 1;
      if (questions === 10) answer(undefined);
      return redisAnswers();
    }),
  );
  app.all('*', async (c) => {
    await end;
    return c.text('here it is');
  });
  app.onError((error, c) => c.text(error.message, 'status' in error ? (error.status as 503) : 500));
  return async (path: string, method = 'GET') => {
    const response = await app.request(path, { method });
    return [response.status, await response.text()];
  };
}

test('a plan takes as long as it takes while Redis answers', async () => {
  expect(await server(() => true)('/api/v1/policies/nightly/plan')).toEqual([200, 'here it is']);
});

test('an error names who did not answer', async () => {
  expect(await server(() => false)('/api/v1/policies/nightly/plan')).toEqual([503, 'Redis does not answer.']);
  expect(await server(() => false)('/runs')).toEqual([503, 'Redis does not answer.']);
  expect(await server(() => true)('/runs')).toEqual([
    504,
    expect.stringContaining('Redis answers; the service'),
  ]);
  expect(await server(() => true)('/runs/x/retry', 'POST')).toEqual([
    504,
    expect.stringContaining('the service'),
  ]);
});

class Silent extends CaretakerError {
  readonly code = 'UNAVAILABLE';
}

test('the page of a policy says that somebody is planning, and then who did not answer', async () => {
  const { promise, reject } = deferred<never>();
  const begun = deferred<void>();
  const planned = await startWorld({
    policies: () => [aPolicy('nightly')],
    preview: () => {
      begun.resolve(undefined);
      return promise;
    },
  });
  world = planned;
  const look = async () => (await planned.look('/policies/nightly/plan')).text;

  const posted = planned.press('/policies/nightly/plan');
  await begun.promise;
  expect(await look()).toContain('admin is planning');
  reject(new Silent('The service did not answer listSites.'));

  expect((await posted).status).toBe(409);
  expect(await look()).toContain('could not be made: The service did not answer listSites.');
});
