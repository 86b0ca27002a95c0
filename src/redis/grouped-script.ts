/**
 * Scripts whose calls of one turn of the event loop are sent as one. What many targets do at the same time is then one
 * command, which is on disk before it is answered.
 */
import type { Cluster, Redis } from 'ioredis';
import { runScript } from './run-script.ts';

/** Redis does nothing else during a script: one of so many calls takes some milliseconds. */
const MAX_CALLS = 25;

/** By script, the one that runs it for each call; an error of one call is the reply of that call alone. */
const texts = new Map<string, string>();

function groupOf(script: string): string {
  const known = texts.get(script);
  if (known !== undefined) return known;
  const text = `local function one(KEYS, ARGV)
${script}
end
local calls = tonumber(ARGV[1])
local replies, key, arg = {}, 0, 1 + 2 * calls
for call = 1, calls do
  local its_keys, its_args = {}, {}
  for i = 1, tonumber(ARGV[2 * call]) do its_keys[i] = KEYS[key + i] end
  for i = 1, tonumber(ARGV[2 * call + 1]) do its_args[i] = ARGV[arg + i] end
  key, arg = key + #its_keys, arg + #its_args
  local is_done, reply = pcall(one, its_keys, its_args)
  if not is_done then
    reply = tostring(type(reply) == 'table' and reply.err or reply)
    -- A replica refuses all of them: the client has to see it, to send them to the new primary.
    if string.find(reply, '^READONLY') then return {err = reply} end
  end
  replies[call] = {is_done and 1 or 0, reply}
end
return replies`;
  texts.set(script, text);
  return text;
}

interface Call {
  keys: readonly string[];
  args: readonly (string | number)[];
  resolve(reply: unknown): void;
  reject(error: unknown): void;
}

/** By connection and script, the calls of this turn. */
const groups = new WeakMap<Redis | Cluster, Map<string, Call[]>>();

/**
 * Runs a Lua script as `runScript` does, together with the other calls of this turn of the event loop: each has its own
 * effect and its own reply, in their order. They are sent after the turn, so a caller that closes the connection
 * waits for the reply first. Only for a script that may be called again after its reply was lost.
 */
export function runGrouped(
  redis: Redis | Cluster,
  script: string,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = { keys, args, resolve, reject };
    const own = groups.get(redis) ?? new Map<string, Call[]>();
    const group = own.get(script);
    if (group) return group.push(call);
    own.set(script, [call]);
    // The first one: all scripts are sent when the turn ends.
    if (own.size === 1) setImmediate(sendAll, redis);
    groups.set(redis, own);
    return undefined;
  });
}

function sendAll(redis: Redis | Cluster): void {
  const all = groups.get(redis) ?? new Map<string, Call[]>();
  groups.delete(redis);
  for (const [script, calls] of all)
    for (let at = 0; at < calls.length; at += MAX_CALLS)
      void send(redis, script, calls.slice(at, at + MAX_CALLS));
}

async function send(redis: Redis | Cluster, script: string, calls: readonly Call[]): Promise<void> {
  const [only, ...others] = calls;
  if (only && others.length === 0)
    return runScript(redis, script, only.keys, only.args).then(only.resolve, only.reject);
  const sizes = calls.flatMap(({ keys, args }) => [keys.length, args.length]);
  const keys = calls.flatMap((call) => call.keys);
  const args = [calls.length, ...sizes, ...calls.flatMap((call) => call.args)];
  try {
    const replies = (await runScript(redis, groupOf(script), keys, args)) as [number, unknown?][];
    for (const [at, { resolve, reject }] of calls.entries()) {
      const [isDone, reply = null] = replies[at] ?? [];
      if (isDone === 1) resolve(reply);
      else reject(new Error(String(reply)));
    }
  } catch (error) {
    for (const { reject } of calls) reject(error);
  }
}
