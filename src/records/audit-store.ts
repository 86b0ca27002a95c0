/**
 * The audit log: what people, programs and the daemon did, each act with its result. A stream in Redis, to which
 * lines are only added. Nothing changes or deletes a line, except that lines expire after the retention period.
 */
import { z } from 'zod';
import { defineScript } from '../redis/script.ts';
import { type Store, toJson } from '../redis/store.ts';
import { auditResults } from './filter-values.ts';
import { keys } from './keys.ts';
import { parseRecord } from './parse-record.ts';

const { exactOptional: optional } = z;
const text = z.string();

export const AuditLine = z.object({
  /** Unique for the act. Its request and its result have the same. */
  act: text,
  at: z.number(),
  result: z.enum(auditResults),
  /** Kind and name of the principal. */
  who: z.object({ kind: text, name: text }),
  /** An IP address, or `cli@host`. */
  from: text,
  /** The command (`runs.cancel`), or what else happened (`sign-in`). */
  what: text,
  policy: optional(text),
  account: optional(text),
  run: optional(text),
  /** How many targets were named. */
  targets: optional(z.number()),
  /** What else it concerns, or what came of it, in a few words. */
  detail: optional(text),
  /** The reason that was given. */
  why: optional(text),
  /** The error of an act that was refused or failed. */
  code: optional(text),
  message: optional(text),
});
export type AuditLine = z.output<typeof AuditLine>;

/** A line with its place in the log: places grow with each line. */
export interface AuditEntry {
  place: string;
  line: AuditLine;
}

/** More lines than this are never kept, whatever the retention period. */
const MAX_LINES = 1_000_000;
const PAGE = 500;

/** Places are times by our clock, so that the retention and searches for a time need no second index. */
const appendLine = defineScript(
  { keys: ['log'], args: ['at', 'line', 'oldest', 'kept', 'max'] },
  `
local time, number = tonumber(args.at), 0
local last = redis.call('XREVRANGE', keys.log, '+', '-', 'COUNT', 1)
if last[1] then
  local before, count = string.match(last[1][1], '(%d+)-(%d+)')
  if tonumber(before) >= time then time, number = tonumber(before), tonumber(count) + 1 end
end
local place = string.format('%.0f-%.0f', time, number)
redis.call('XADD', keys.log, place, 'line', args.line)
redis.call('XTRIM', keys.log, 'MINID', args.oldest)
redis.call('XTRIM', keys.log, 'MAXLEN', '~', args.max)
redis.call('PEXPIRE', keys.log, args.kept)
return place`,
);

/** Whether a key is the log. */
export const isAuditLog = (key: string): boolean => key === keys.audit;

export class AuditStore {
  constructor(private readonly store: Store) {}

  /** Adds a line, and removes those that are older than `keptMs`. */
  async append(line: AuditLine, keptMs: number): Promise<void> {
    await appendLine(this.store, {
      keys: { log: keys.audit },
      args: {
        at: line.at,
        line: toJson(line),
        oldest: Math.max(0, line.at - keptMs),
        kept: keptMs,
        max: MAX_LINES,
      },
    });
  }

  /** The lines from `since` on, newest first; those before the place `before`, if it is given. */
  async *newestFirst({ since = 0, before }: { since?: number; before?: string }): AsyncGenerator<AuditEntry> {
    let end = before === undefined ? '+' : `(${before}`;
    for (;;) {
      const page = await this.store.xrevrange(keys.audit, end, since, 'COUNT', PAGE);
      for (const entry of page) yield entryOf(entry);
      const last = page.at(-1);
      if (page.length < PAGE || !last) return;
      end = `(${last[0]}`;
    }
  }

  /** The lines from a place on for `ms`, oldest first. */
  async *from(place: string, ms: number): AsyncGenerator<AuditEntry> {
    let start = place;
    const end = Number(place.split('-')[0]) + ms;
    for (;;) {
      const page = await this.store.xrange(keys.audit, start, end, 'COUNT', PAGE);
      for (const entry of page) yield entryOf(entry);
      const last = page.at(-1);
      if (page.length < PAGE || !last) return;
      start = `(${last[0]}`;
    }
  }
}

/** @throws {InvalidRecordError} */
const entryOf = ([place, [, json = '']]: [string, string[]]): AuditEntry => ({
  place,
  line: parseRecord(AuditLine, json, keys.audit),
});
