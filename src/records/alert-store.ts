/**
 * What is wrong now and is about no run: a broken policy file, a paused queue, and whether anyone works. Each change of
 * it is noticed once, however many processes see it: the script that makes the change adds its notice.
 */
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { scrub } from '../secrets.ts';
import { keys } from './keys.ts';
import { ADD_NOTICE, noticeText, type SystemNotice } from './notice-store.ts';

/** An alert that no one sees any more is forgotten after this time. */
const KEPT_MS = 90 * 86_400_000;
const MAX_ALERTS = 1_000;
const ALIVE = 'alive';

const raiseAlert = defineScript(
  { keys: ['alerts', 'notices'], args: ['name', 'at', 'notice'] },
  `${ADD_NOTICE}
local known = redis.call('HEXISTS', keys.alerts, args.name)
if known == 0 and redis.call('HLEN', keys.alerts) >= ${MAX_ALERTS} then return 0 end
redis.call('HSET', keys.alerts, args.name, args.at)
redis.call('PEXPIRE', keys.alerts, ${KEPT_MS})
if known == 1 then return 0 end
add_notice(keys.notices, args.notice)
return 1`,
);

const clearAlert = defineScript(
  { keys: ['alerts', 'notices'], args: ['name', 'seen_until', 'notice'] },
  `${ADD_NOTICE}
local seen = redis.call('HGET', keys.alerts, args.name)
if not seen or tonumber(seen) > tonumber(args.seen_until) then return 0 end
redis.call('HDEL', keys.alerts, args.name)
add_notice(keys.notices, args.notice)
return 1`,
);

/** `before`: the value that the notice is about, or ''. */
const noteAlive = defineScript(
  { keys: ['alerts', 'notices'], args: ['now', 'before', 'notice'] },
  `${ADD_NOTICE}
local before = redis.call('HGET', keys.alerts, '${ALIVE}') or ''
if args.notice ~= '' and before == args.before then add_notice(keys.notices, args.notice) end
if before == '' or tonumber(before) < tonumber(args.now) then
  redis.call('HSET', keys.alerts, '${ALIVE}', args.now)
end
redis.call('PEXPIRE', keys.alerts, ${KEPT_MS})
return 1`,
);

export class AlertStore {
  constructor(private readonly store: Store) {}

  /** Also whenever it is seen again. False when it was raised before, by whichever process. */
  async raise(name: string, notice: SystemNotice): Promise<boolean> {
    const raised = await raiseAlert(this.store, {
      keys: { alerts: keys.alerts, notices: keys.notices },
      args: { name, at: notice.at, notice: textOf(notice) },
    });
    return raised === 1;
  }

  /** Ends an alert that no process has seen after `until`. False when there is none. */
  async clear(name: string, until: number, notice?: SystemNotice): Promise<boolean> {
    const cleared = await clearAlert(this.store, {
      keys: { alerts: keys.alerts, notices: keys.notices },
      args: { name, seen_until: until, notice: notice ? textOf(notice) : '' },
    });
    return cleared === 1;
  }

  /** The names of all alerts that begin with `prefix`. */
  async names(prefix: string): Promise<string[]> {
    return (await this.store.hkeys(keys.alerts)).filter((name) => name.startsWith(prefix));
  }

  /** Whether a daemon has ever worked on this Redis. */
  async hasWorked(): Promise<boolean> {
    return (await this.store.hexists(keys.alerts, ALIVE)) === 1;
  }

  /** Records that a process works. `about` makes the notice when no one has worked for `silentMs`; it is added once. */
  async noteAlive(now: number, silentMs: number, about: (since: number) => SystemNotice): Promise<void> {
    const before = await this.store.hget(keys.alerts, ALIVE);
    const isBack = before !== null && now - Number(before) >= silentMs;
    await noteAlive(this.store, {
      keys: { alerts: keys.alerts, notices: keys.notices },
      args: { now, before: before ?? '', notice: isBack ? textOf(about(Number(before))) : '' },
    });
  }
}

const textOf = (notice: SystemNotice): string => noticeText({ ...notice, detail: scrub(notice.detail) });
