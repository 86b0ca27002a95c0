import { isoMinute } from '../clock.ts';
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import type { Late } from '../run/run.ts';
import { scrub } from '../secrets.ts';
import { keys } from './keys.ts';
import { ADD_NOTICE, type Notice, noticeText, type SystemNotice } from './notice-store.ts';

const noteLate = defineScript(
  { keys: ['run', 'notices'], args: ['late', 'notice'] },
  `${ADD_NOTICE}
if redis.call('EXISTS', keys.run) == 0 then return 0 end
if redis.call('HSETNX', keys.run, 'late', args.late) == 0 then return 0 end
add_notice(keys.notices, args.notice)
return 1`,
);

/** Which runs miss their deadline: once for each run. */
export class LateStore {
  constructor(private readonly store: Store) {}

  /** False when that was recorded before, by whichever process, or the run is no longer stored. */
  async note(run: string, late: Late, notice?: Notice): Promise<boolean> {
    const noted = await noteLate(this.store, {
      keys: { run: keys.run(run), notices: keys.notices },
      args: { late: JSON.stringify(late), notice: noticeText(notice) },
    });
    return noted === 1;
  }
}

// When each heartbeat was sent last, by whichever process: one of them sends it in each interval. Whoever finds it due
// takes it, so the next one is sent when that process has died.

/** Gives the time of the last one when it is not due, else ''. A time in the future is of a clock that was set back. */
const takeHeartbeat = defineScript(
  { keys: ['heartbeat'], args: ['now', 'wait', 'kept'] },
  `
local last = redis.call('GET', keys.heartbeat)
local now, wait = tonumber(args.now), tonumber(args.wait)
if last and now < tonumber(last) + wait and now >= tonumber(last) - wait then return last end
redis.call('SET', keys.heartbeat, args.now, 'PX', args.kept)
return ''`,
);

/** A heartbeat that is not sent any more is forgotten after this, or twice the wait if that is longer. */
const HEARTBEATS_KEPT_MS = 3_600_000;

export class HeartbeatStore {
  constructor(private readonly store: Store) {}

  /** Takes the heartbeat when the last one is so long ago: then the caller sends it. Else gives when that was. */
  async take(name: string, now: number, wait: number): Promise<'taken' | { at: number }> {
    const last = await takeHeartbeat(this.store, {
      keys: { heartbeat: keys.heartbeat(name) },
      args: { now, wait, kept: Math.max(HEARTBEATS_KEPT_MS, 2 * wait) },
    });
    return last === '' ? 'taken' : { at: Number(last) };
  }
}

// What is wrong now and is about no run: a broken policy file, a paused queue, and whether anyone works. Each change of
// it is noticed once, however many processes see it: the script that makes the change adds its notice.

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

/** `before`: the value that the notice is about, or ''. A time in the future is of a clock that was set back. */
const noteAlive = defineScript(
  { keys: ['alerts', 'notices'], args: ['now', 'before', 'silent', 'notice'] },
  `${ADD_NOTICE}
local before = redis.call('HGET', keys.alerts, '${ALIVE}') or ''
if args.notice ~= '' and before == args.before then add_notice(keys.notices, args.notice) end
local now = tonumber(args.now)
if before == '' or tonumber(before) < now or tonumber(before) >= now + args.silent then
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
      args: {
        now,
        before: before ?? '',
        silent: silentMs,
        notice: isBack ? textOf(about(Number(before))) : '',
      },
    });
  }
}

const textOf = (notice: SystemNotice): string => noticeText({ ...notice, detail: scrub(notice.detail) });

// That the clock of Redis, by which all processes work, went forward or back: one notice, and a warning for an hour.

const WARNED_MS = 3_600_000;
const PREFIX = 'clock ';

/** Records a jump, as each process does that measures it. */
export async function noteClockJump(
  alerts: AlertStore,
  { at, byMs }: { at: number; byMs: number },
): Promise<void> {
  const [direction, opposite] = byMs > 0 ? ['forward', 'back'] : ['back', 'forward'];
  // Its time may be far ahead of now.
  await alerts.clear(PREFIX + opposite, Number.MAX_SAFE_INTEGER);
  const detail = `The clock of Redis went ${direction}, from about ${isoMinute(at - byMs)} to ${isoMinute(at)}. Check the time service of its machine.`;
  await alerts.raise(PREFIX + direction, { type: 'system', event: 'clock-jumped', at, detail });
}

/** The jumps of the last hour, a sentence each without a full stop. */
export async function clockJumps(alerts: AlertStore, now: number): Promise<string[]> {
  const names = await alerts.names(PREFIX);
  for (const name of names) await alerts.clear(name, now - WARNED_MS);
  return names.map(
    (name) =>
      `the clock of Redis went ${name.slice(PREFIX.length)} in the last hour: scheduled times may have been early, late or missed; check the time service of its machine`,
  );
}
