/** Requests to the HTTP API of a Caretaker server (`--server`), for people without access to its Redis. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { z } from 'zod';
import { CaretakerError, fileFaultOf, systemCodeOf } from '../errors.ts';
import { keepSecret } from '../secrets.ts';
import { parsedJson } from '../text.ts';
import { UsageError } from './exit.ts';
import type { Io } from './io.ts';

/** The server cannot be reached, or something else answers at its address. */
export class ServerError extends CaretakerError {
  readonly code = 'SERVER';
}

/** The server refused a request; its sentence and its error code. */
export class ServerRefusedError extends CaretakerError {
  constructor(
    readonly code: string,
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

const Problem = z.object({ status: z.number(), code: z.string(), detail: z.string() });

export interface Server {
  readonly url: string;
  /** Lists in the query are sent as repeated parameters; what is undefined is left out. */
  get<T>(path: string, query?: Record<string, string | number | readonly string[] | undefined>): Promise<T>;
  /**
   * Carries out a command. The request has an idempotency key, so it is repeated when its answer was lost, and has
   * its effect once.
   */
  post<T>(path: string, body?: object): Promise<T>;
}

/** A plan may wait for the budget of its account. */
const ANSWER_TIMEOUT_MS = 300_000;
const MAX_ATTEMPTS = 3;
const RETRY_INTERVAL_MS = 1_000;

/**
 * Opens the server. The token is in CARETAKER_SERVER_TOKEN, or in the file that CARETAKER_SERVER_TOKEN_FILE names.
 * Sends nothing yet.
 *
 * @throws {UsageError} for an address that is none, or without a token.
 */
export function openServer(address: string, env: Io['env']): Server {
  const base = URL.canParse(address) ? new URL(address) : undefined;
  if (!base || !/^https?:$/.test(base.protocol))
    throw new UsageError(
      `The server must be an address such as https://caretaker.example, not "${address}".`,
    );
  const url = `${base.origin}${base.pathname.replace(/\/+$/, '')}`;
  const token = tokenIn(env);
  keepSecret(token);
  const send = async <T>(
    method: 'GET' | 'POST',
    path: string,
    more: { body?: string; headers?: Record<string, string> } = {},
  ): Promise<T> => {
    const { statusCode, headers, text } = await ask(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...more.headers },
      ...(more.body === undefined ? {} : { body: more.body }),
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
    });
    return answerIn({
      url,
      path,
      status: statusCode,
      type: String(headers['content-type'] ?? ''),
      text,
    }) as T;
  };
  return {
    url,
    get(path, query = {}) {
      const parameters = Object.entries(query).flatMap(([name, value]) =>
        value === undefined ? [] : [value].flat().map((one) => [name, String(one)] as [string, string]),
      );
      const search = new URLSearchParams(parameters).toString();
      return send('GET', search === '' ? path : `${path}?${search}`);
    },
    post(path, body = {}) {
      const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
      return again(() => send('POST', path, { body: JSON.stringify(body), headers }));
    },
  };

  async function ask(address: string, options: Parameters<typeof request>[1]) {
    try {
      const answer = await request(address, options);
      return { ...answer, text: await answer.body.text() };
    } catch (error) {
      const why = systemCodeOf(error);
      throw new ServerError(
        `The server at ${url} cannot be reached${why === undefined ? '' : ` (${why})`}. Check --server or CARETAKER_SERVER, and that its daemon runs.`,
        { cause: error },
      );
    }
  }
}

/** Repeats a request whose answer was lost, or whose act is still being carried out. */
async function again<T>(send: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      const isLost =
        error instanceof ServerError || (error instanceof ServerRefusedError && error.code === 'KEY_BUSY');
      if (!isLost || attempt === MAX_ATTEMPTS) throw error;
      await sleep(RETRY_INTERVAL_MS);
    }
  }
}

/** @throws {UsageError} */
function tokenIn(env: NodeJS.ProcessEnv): string {
  const file = env['CARETAKER_SERVER_TOKEN_FILE'];
  if (env['CARETAKER_SERVER_TOKEN']) return env['CARETAKER_SERVER_TOKEN'];
  if (!file)
    throw new UsageError(
      'A server needs a token: set CARETAKER_SERVER_TOKEN, or CARETAKER_SERVER_TOKEN_FILE to the file that has it.',
    );
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(
      `The file ${file} (CARETAKER_SERVER_TOKEN_FILE) cannot be read: ${fileFaultOf(error)}.`,
    );
  }
}

/** @throws {ServerError} {ServerRefusedError} */
function answerIn(given: { url: string; path: string; status: number; type: string; text: string }): unknown {
  const { url, status, type, text } = given;
  const value = /\bjson\b/.test(type) ? parsedJson(text) : undefined;
  if (status >= 200 && status < 300 && value !== undefined) return value;
  const problem = Problem.safeParse(value).data;
  if (status === 401)
    throw new ServerRefusedError(
      'SIGN_IN',
      status,
      `The server at ${url} refuses the token. Check CARETAKER_SERVER_TOKEN.`,
    );
  if (problem && !/^There is no such endpoint/.test(problem.detail))
    throw new ServerRefusedError(problem.code, status, problem.detail);
  if (problem || (status === 404 && value !== undefined))
    throw new ServerError(
      `The server at ${url} is older than this caretaker and cannot do this. Update the server, or use its version of caretaker.`,
    );
  throw new ServerError(`Something other than Caretaker answers at ${url} (HTTP ${status}). Check --server.`);
}
