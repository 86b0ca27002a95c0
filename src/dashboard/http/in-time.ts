/** How long a request may take, and an error that names who did not answer. */
import { setTimeout as after } from 'node:timers/promises';
import { createMiddleware } from 'hono/factory';
import { HTTPException } from 'hono/http-exception';
import type { Records } from '../../records/records.ts';
import type { Env, Exchange } from './context.ts';

interface Limits {
  /** Commands wait while Redis is away. A page does not wait longer than this for it. */
  redisMs: number;
  /** Who changes something waits longer, because they have to learn what came of it: programs, and people. */
  actMs: number;
}

/** An issuer has its own time limit, checks of passwords wait for each other, and neither needs Redis. */
const isPatient = ({ req }: Exchange): boolean => req.method === 'POST' || req.path.startsWith('/sign-in');
/** A plan takes as long as the service takes to list an account. */
const isPlan = ({ req }: Exchange): boolean => /^\/api\/.*\/(?:plan|plans|backfill)(?:\/|$)/.test(req.path);

export const inTime = (
  { redisMs, actMs }: Limits,
  redisAnswers: () => Promise<boolean>,
): ReturnType<typeof createMiddleware<Env>> =>
  createMiddleware(async (c, next) => {
    const over = new AbortController();
    const work = next().then(() => true);
    const timer = (ms: number) => after(ms, false, { signal: over.signal, ref: false }).catch(() => false);
    const first = isPatient(c) ? actMs : redisMs;
    try {
      for (
        let ms = first;
        !(await Promise.race([work, timer(ms === first ? first : redisMs)]));
        ms += redisMs
      ) {
        if (!(await redisAnswers())) throw new HTTPException(503, { message: 'Redis does not answer.' });
        if (ms >= actMs && !isPlan(c))
          throw new HTTPException(504, {
            message: `There is no answer after ${Math.round(ms / 1000)} seconds. Redis answers; the service, or what was asked of it, is slow.`,
          });
      }
    } finally {
      over.abort();
      work.catch(() => undefined);
    }
  });

/** Redis that takes longer is said to be away. */
const ANSWER_MS = 1_500;
/** The question to Redis that has no answer yet: one for all that ask, because commands wait while Redis is away. */
const asked = new WeakMap<Records, Promise<boolean>>();

/** Whether Redis answers in time. */
export function redisAnswers(records: Records): Promise<boolean> {
  const answer =
    asked.get(records) ??
    records.freeze
      .at(Date.now())
      .then(
        () => true,
        () => false,
      )
      .finally(() => asked.delete(records));
  asked.set(records, answer);
  return Promise.race([answer, after(ANSWER_MS, false, { ref: false })]);
}
