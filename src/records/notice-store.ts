/**
 * Notices: what happened that people may have to be notified about. The script that makes a change also adds its
 * notice, so no change is without one. A worker takes each notice once and makes its deliveries of it
 * (`delivery-store.ts`).
 */
import { z } from 'zod';
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { runStatuses } from '../run/run.ts';
import type { DeliveryStore, NewDelivery } from './delivery-store.ts';
import type { Channels } from './events.ts';
import { ADD_DELIVERY, type Held, HOLD, holdName } from './hold-store.ts';
import { keys } from './keys.ts';
import { parseRecord } from './parse-record.ts';
import { PROBLEMS_KEPT_MS, type ProblemChange } from './problem-store.ts';

const text = z.string();
const ofRun = { run: text, at: z.number() };

/** The run has what is the same whenever it is read; a notice has what changes after it. */
export const Notice = z.discriminatedUnion('type', [
  /** A run ended, or was blocked. */
  z.object({
    type: z.literal('run'),
    ...ofRun,
    status: z.enum(runStatuses),
    detail: z.exactOptional(text),
  }),
  /** A run is predicted to miss its deadline, or has missed it. */
  z.object({ type: z.literal('deadline'), ...ofRun }),
  /** The `number`th approval of a run, from 1, begins to be waited for, or no one decided in time. */
  z.object({
    type: z.literal('approval'),
    ...ofRun,
    is: z.enum(['wanted', 'expired']),
    number: z.number(),
    detail: z.exactOptional(text),
  }),
  /** The gate after a batch, from 1, closed. */
  z.object({ type: z.literal('gate-closed'), ...ofRun, batch: z.number(), detail: text }),
  /** The policy was paused after this run. */
  z.object({ type: z.literal('paused'), ...ofRun, by: text, reason: z.exactOptional(text) }),
  /** Something that is about no run, by its word under `events` of a receiver; `detail` is one sentence. */
  z.object({
    type: z.literal('system'),
    event: text,
    at: z.number(),
    detail: text,
    account: z.exactOptional(text),
    policy: z.exactOptional(text),
  }),
]);
export type Notice = z.output<typeof Notice>;
export type SystemNotice = Extract<Notice, { type: 'system' }>;
export type RunNotice = Exclude<Notice, SystemNotice>;

/** A notice that no one has taken for this long is of no use any more. */
const KEPT_MS = 7 * 86_400_000;

/** As an argument of a script that has `ADD_NOTICE`; '' for none. */
export const noticeText = (notice: Notice | undefined): string => (notice ? JSON.stringify(notice) : '');

/**
 * For the head of a script: `add_notice(key of the notices, notice)`. Adding one again changes nothing. The channel with
 * the name of the key has a message each time.
 */
export const ADD_NOTICE = `
local function add_notice(notices, notice)
  if notice == '' then return end
  local at = cjson.decode(notice).at
  redis.call('ZADD', notices, at, notice)
  redis.call('ZREMRANGEBYSCORE', notices, '-inf', at - ${KEPT_MS})
  redis.call('PEXPIRE', notices, ${KEPT_MS})
  redis.call('PUBLISH', notices, '')
end`;

/**
 * `changes`: of problems, each a list of the number of its key, its field, the text before and after; `made`: messages,
 * each a list of its id, its text, and the name and due time of its hold ('' for none).
 */
const takeNotice = defineScript(
  {
    keys: ['notices', 'deliveries', 'due', 'last', 'holds'],
    keyList: 'problems',
    args: ['notice', 'delivery_prefix', 'hold_prefix', 'now', 'kept', 'changes', 'made'],
  },
  `${ADD_DELIVERY}${HOLD}
if not redis.call('ZSCORE', keys.notices, args.notice) then return 0 end
local changes = cjson.decode(args.changes)
for _, change in ipairs(changes) do
  local key, field, before = problems[tonumber(change[1])], change[2], change[3]
  if (redis.call('HGET', key, field) or '') ~= before then return 2 end
end
redis.call('ZREM', keys.notices, args.notice)
for _, change in ipairs(changes) do
  local key, field, after = problems[tonumber(change[1])], change[2], change[4]
  if after == '' then redis.call('HDEL', key, field)
  else
    redis.call('HSET', key, field, after)
    redis.call('PEXPIRE', key, ${PROBLEMS_KEPT_MS})
  end
end
for _, made in ipairs(cjson.decode(args.made)) do
  local id, text, name, due = made[1], made[2], made[3], made[4]
  if name == '' then add_delivery(id, text, args.delivery_prefix .. id, args.now, args.kept)
  else hold(name, args.hold_prefix .. name, text, due, args.now) end
end
return 1`,
);

/** What follows from a notice. */
export interface Following {
  /** Each is delivered now, or held. */
  made: readonly { message: NewDelivery; held?: Held | undefined }[];
  changes: readonly ProblemChange[];
}

/** A notice, and the text by which it is taken. `notice` is missing when this release cannot read it. */
export interface OpenNotice {
  text: string;
  notice?: Notice;
}

export class NoticeStore {
  constructor(
    private readonly store: Store,
    private readonly deliveries: Pick<DeliveryStore, 'keptMs'>,
    private readonly channels: Channels,
  ) {}

  /** Calls the listener when a notice is added, or a delivery is to be sent again. The returned function stops that. */
  listen(listener: () => void): Promise<() => Promise<void>> {
    return this.channels.listen(keys.notices, listener);
  }

  /** Whether there are notices that no one has taken, messages that are held, or deliveries that are due some time. */
  async anyOpen(): Promise<boolean> {
    return (await this.store.exists(keys.notices, keys.holds, keys.dueDeliveries)) > 0;
  }

  /** Those that no one has taken yet, oldest first, from position `from` (0 is the first). */
  async open(limit: number, from = 0): Promise<OpenNotice[]> {
    const texts = await this.store.zrange(keys.notices, from, String(from + limit - 1));
    return texts.map((text) => {
      try {
        return { text, notice: parseRecord(Notice, text, keys.notices) };
      } catch {
        return { text };
      }
    });
  }

  /**
   * Takes a notice with all that follows from it. `gone`: another process took it before. `changed`: the problems are
   * no longer as they were read, and nothing has happened.
   */
  async take(
    { text }: OpenNotice,
    { made, changes }: Following,
    now: number,
  ): Promise<'taken' | 'gone' | 'changed'> {
    const problems = [...new Set(changes.map(({ key }) => key))];
    const taken = await takeNotice(this.store, {
      keys: {
        notices: keys.notices,
        deliveries: keys.deliveries,
        due: keys.dueDeliveries,
        last: keys.lastDeliveries,
        holds: keys.holds,
      },
      keyList: problems,
      args: {
        notice: text,
        delivery_prefix: keys.delivery(''),
        hold_prefix: keys.hold(''),
        now,
        kept: this.deliveries.keptMs,
        changes: JSON.stringify(
          changes.map(({ key, field, before, after }) => [
            String(problems.indexOf(key) + 1),
            field,
            before,
            after,
          ]),
        ),
        made: JSON.stringify(
          made.map(({ message, held }) => [
            message.id,
            JSON.stringify(message),
            held ? holdName(held.kind, message.to) : '',
            held ? String(held.due) : '',
          ]),
        ),
      },
    });
    return taken === 1 ? 'taken' : taken === 2 ? 'changed' : 'gone';
  }
}
