/** A desk for all tests of a file: with a sandbox, or where there is no service. Both end with the file. */
import { afterAll } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts';
import type { FastClock } from '../support/caretaker.ts';
import { type Desk, openDesk } from '../support/cli.ts';

/** Nothing listens there, so every output comes from the command itself. */
export const NOWHERE = { CARETAKER_BASE_URL: 'http://127.0.0.1:9/api/v6', CARETAKER_API_TOKEN: 't' };

export interface FileDesk extends Desk {
  /** What a command prints with `--json`. */
  // biome-ignore lint/suspicious/noExplicitAny: what is printed has the form that the command declares.
  json<T = any>(args: string[], env?: Record<string, string>): Promise<T>;
}

function withJson(desk: Desk): FileDesk {
  return {
    ...desk,
    json: async (args, env) => JSON.parse((await desk.run([...args, '--json'], env)).stdout),
  };
}

/** A desk at which commands have these variables, and no sandbox. */
export function deskOfFile(env: Record<string, string> = NOWHERE): FileDesk {
  const desk = openDesk(env);
  afterAll(() => desk.clear());
  return withJson(desk);
}

/** Without a limit of requests unless one is given. */
interface Options extends SandboxOptions {
  /** On this clock, the desk's too, each sync takes a second. */
  clock?: FastClock;
  /** Whether commands share a Redis, in place of an embedded one that each starts. Default: yes. */
  keepsRedis?: boolean;
}

export async function sandboxOfFile({ keepsRedis = true, ...options }: Options): Promise<{
  sandbox: Sandbox;
  desk: FileDesk;
}> {
  const sandbox = await startSandbox({ rateLimit: 0, ...options });
  if (options.clock) for (const id of sandbox.siteIds()) sandbox.site(id).syncTakes(1_000);
  const env = { CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: sandbox.token };
  const desk = openDesk(env, options.clock);
  afterAll(async () => {
    await desk.clear();
    await sandbox.stop();
  });
  if (keepsRedis) await desk.keepRedis();
  return { sandbox, desk: withJson(desk) };
}
