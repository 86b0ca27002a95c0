/**
 * The tools for contract cases. The same cases run against the sandbox in this process and, with
 * `CONFORMANCE_BASE` and `CONFORMANCE_TOKEN` (`npm run conformance -- --base URL --token T`), against any
 * other service.
 *
 * Every answer is checked: its status against the operation's row of the specification, and a success against
 * the contract's shapes. A case is named by its section: `4.13 Tags: ...`.
 */
import { afterAll, expect, type TestContext, test } from 'vitest';
import { operationOf } from '../../src/contract/operations.ts';
import { complete, published } from '../../src/contract/schema.ts';
import { routeTo } from '../../src/sandbox/http/router.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type HeldClock, heldClock } from '../support/held-clock.ts';

// biome-ignore lint/suspicious/noExplicitAny: a case reads the answer's JSON as it comes; its shape is checked before.
export type Json = any;

export interface Reply {
  status: number;
  headers: Headers;
  /** The JSON of the answer; undefined when it has none. */
  body: Json;
  /** The text of answers that are not JSON. */
  bytes: Buffer;
}

export interface Tools {
  /** Sends one request; `path` is relative to the base URL. A header of `null` is omitted. */
  call(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Record<string, string | null>,
  ): Promise<Reply>;
  /**
   * The first item of a list that will do: `need('/sites?filters[paused:eq]=true')`. When the account has none, the case
   * fails, and is skipped over a URL; both say what is missing. Looks through the first thousand items.
   */
  need(list: string, suits?: (item: Json) => boolean): Promise<Json>;
  /** Lets time pass in the service. Over a URL that cannot be: the case is skipped. */
  time: { pass(ms: number): Promise<void> };
  /** Removes what the case has created when it ends, in any way, so that the account is left unchanged. */
  cleanUp(method: 'POST' | 'DELETE', path: string, body?: unknown): void;
  /** The sandbox in this process, for what a caller cannot cause. Skips the case over a URL. */
  sandbox(): Sandbox;
}

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export type Conform = (name: string, run: (tools: Tools) => Promise<void>) => void;

const base = process.env['CONFORMANCE_BASE'];
const token = process.env['CONFORMANCE_TOKEN'] ?? '';

interface Cases {
  /**
   * A case that runs against any service. In this process the cases of a file share one sandbox, as they share one
   * account over a URL: sixty sites, and a clock that stands still. Each leaves the account as it was.
   */
  conform: Conform;
  /**
   * A case that lets time pass, or needs an account of a certain kind. It has a sandbox of its own, and runs only against
   * that.
   */
  conformHeld(name: string, run: (tools: Tools) => Promise<void>, account?: SandboxOptions): void;
}

/** The cases of a file. Their names begin with its section, unless they begin with another one. */
export function casesOfFile(section?: string): Cases {
  let started: Promise<Held> | undefined;
  afterAll(async () => (await started)?.sandbox.stop());
  const nameOf = (name: string) =>
    section === undefined || /^\d[\d., ]* [A-Z]/.test(name) ? name : `${section}: ${name}`;
  return {
    conform: (name, run) =>
      test(nameOf(name), { timeout: base === undefined ? 20_000 : 300_000 }, async (context) => {
        if (base !== undefined) return run(remote(context, base));
        started ??= startHeld({});
        await run(toolsOf(context, await started));
      }),
    conformHeld: (name, run, account = {}) =>
      test(nameOf(name), async (context) => {
        if (base !== undefined) context.skip('needs a clock that is held, or an account of its kind');
        const held = await startHeld(account);
        context.onTestFinished(() => held.sandbox.stop());
        await run(toolsOf(context, held));
      }),
  };
}

interface Held {
  sandbox: Sandbox;
  clock: HeldClock;
}

async function startHeld(account: SandboxOptions): Promise<Held> {
  const clock = heldClock();
  return { clock, sandbox: await startSandbox({ clock, rateLimit: 0, ...account }) };
}

/** The sandbox in this process. An error of its own, answered with 500, fails the case at its end. */
function toolsOf(context: TestContext, { sandbox, clock }: Held): Tools {
  const before = sandbox.journal.requests.length;
  context.onTestFinished(() => {
    const mistakes = sandbox.journal.requests
      .slice(before)
      .flatMap(({ path, mistake }) => (mistake ? [path, mistake] : []));
    expect(mistakes).toEqual([]);
  });
  const call = caller(sandbox.url, sandbox.token, 'strict');
  return {
    ...common(context, call, expect.fail),
    time: { pass: (ms) => clock.advance(ms) },
    sandbox: () => sandbox,
  };
}

function remote(context: TestContext, url: string): Tools {
  const call = patient(caller(url.replace(/\/$/, ''), token, 'lenient'));
  return {
    ...common(context, call, context.skip),
    time: { pass: async () => context.skip('needs a clock that is held') },
    sandbox: () => context.skip('needs the sandbox in this process'),
  };
}

type Call = Tools['call'];

function common(
  context: TestContext,
  call: Call,
  isMissing: (what: string) => never,
): Pick<Tools, 'call' | 'need' | 'cleanUp'> {
  return {
    call,
    need: async (list, suits = () => true) => {
      for (let page = 1; page <= 10; page += 1) {
        const paged = page === 1 ? list : `${list}${list.includes('?') ? '&' : '?'}page=${page}`;
        const { status, body } = await call('GET', paged);
        if (status !== 200) break;
        const items = (Object.values(body).find(Array.isArray) ?? []) as Json[];
        const found = items.find(suits);
        if (found) return found;
        if (page >= (body.meta?.pagination.totalPages ?? 1)) break;
      }
      return isMissing(`the account has nothing that suits at ${list}`);
    },
    cleanUp: (method, path, body) => {
      context.onTestFinished(async () => {
        await call(method, path, body);
      });
    },
  };
}

type Reading = 'strict' | 'lenient';

function caller(url: string, bearer: string, reading: Reading): Call {
  return async (method, path, body, headers = {}) => {
    const sent = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', ...headers };
    const response = await fetch(`${url}${path}`, {
      method,
      headers: Object.fromEntries(
        Object.entries(sent).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
      ),
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    const reply: Reply = {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(bytes.toString('utf8')) : undefined,
      bytes,
    };
    holdToRow(method, path, reply, reading);
    return reply;
  };
}

/** Checks that the status is in the operation's row, and that a success matches the contract. */
function holdToRow(method: string, path: string, { status, body, bytes }: Reply, reading: Reading): void {
  const route = routeTo(method, path.split('?')[0] ?? '');
  if (!route) return;
  const { success, errors, answer, answers } = operationOf(route.operation);
  if (status !== success)
    expect(errors, `statuses of ${route.operation} (${JSON.stringify(body)})`).toContain(status);
  if (status !== success) return;
  if (success === 204) expect(bytes.length, `${route.operation} answers no body`).toBe(0);
  if (answers === 'pdf') expect(bytes.subarray(0, 5).toString('latin1')).toBe('%PDF-');
  if (!answer) return;
  const read = (reading === 'strict' ? published : complete)(answer).safeParse(body);
  expect(read.error?.issues ?? [], `the answer of ${route.operation}`).toEqual([]);
}

/** Waits when the budget of the account is used up: an account has 200 requests per minute (spec 8). */
const patient =
  (call: Call): Call =>
  async (...request) => {
    for (let tries = 0; ; tries += 1) {
      const reply = await call(...request);
      if (reply.status !== 429 || tries === 3) return reply;
      const seconds = Math.min(60, Number(reply.headers.get('x-ratelimit-reset') ?? 60));
      await new Promise((resolve) => setTimeout(resolve, (seconds + 1) * SECOND));
    }
  };
