/** Lua scripts in Redis, each of which is atomic, as functions with names for what they are called with. */
import type { Cluster, Redis } from 'ioredis';
import { runGrouped } from './grouped-script.ts';
import { runScript } from './run-script.ts';

/** The names by which a script reads its keys and arguments. */
interface Names<Key extends string, Arg extends string, List extends string> {
  keys: readonly Key[];
  args?: readonly Arg[];
  /** Of a script that takes any number of keys after the named ones: what it calls them. */
  keyList?: List;
  /** Of a script that takes any number of arguments after the named ones: what it calls them. */
  argList?: List;
  /** Calls of one turn of the event loop are sent as one: see `runGrouped`. */
  isGrouped?: true;
}

/** What a script is called with, by name. */
interface Call<Key extends string, Arg extends string> {
  keys: Record<Key, string>;
  args?: Record<Arg, string | number>;
  keyList?: readonly string[];
  argList?: readonly (string | number)[];
}

/** A script as a function. Its reply is as Redis sends it; the caller parses it. */
export type Script<Key extends string, Arg extends string> = (
  redis: Redis | Cluster,
  call: Call<Key, Arg> & ([Arg] extends [never] ? unknown : { args: Record<Arg, string | number> }),
) => Promise<unknown>;

/**
 * Makes a function of a Lua script. The script reads what it is called with as `keys.<name>` and
 * `args.<name>`, and lists, numbered from 1, by their own names. Arguments arrive as texts: the script
 * converts those that it calculates with.
 *
 * An argument whose name ends with `_prefix` is the beginning of keys that the script builds. It is passed as a key, so
 * that the client puts the prefix of its environment before it.
 */
export function defineScript<const Key extends string, const Arg extends string = never>(
  names: Names<Key, Arg, string>,
  lua: string,
): Script<Key, Arg> {
  const { keys, args = [], keyList, argList } = names;
  const prefixes = args.filter((name) => name.endsWith('_prefix'));
  const values = args.filter((name) => !name.endsWith('_prefix'));
  const text = [
    `local keys = ${table('KEYS', keys)}`,
    `local args = ${table('ARGV', values)}`,
    ...prefixes.map((name, index) => `args.${name} = KEYS[${keys.length + index + 1}]`),
    ...(keyList ? [listOf('KEYS', keyList, keys.length + prefixes.length)] : []),
    ...(argList ? [listOf('ARGV', argList, values.length)] : []),
    lua,
  ].join('\n');
  const run: typeof runScript = names.isGrouped ? runGrouped : runScript;
  return (redis, call) =>
    run(
      redis,
      text,
      [
        ...keys.map((name) => call.keys[name]),
        ...prefixes.map((name) => String(call.args?.[name] ?? '')),
        ...(call.keyList ?? []),
      ],
      [...values.map((name) => call.args?.[name] ?? ''), ...(call.argList ?? [])],
    );
}

const table = (source: 'KEYS' | 'ARGV', names: readonly string[]): string =>
  `{${names.map((name, index) => `${name} = ${source}[${index + 1}]`).join(', ')}}`;

const listOf = (source: 'KEYS' | 'ARGV', name: string, after: number): string =>
  `local ${name} = {} for i = ${after + 1}, #${source} do ${name}[i - ${after}] = ${source}[i] end`;
