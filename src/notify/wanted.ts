/** What the parts that write the messages of a notice share. */
import { Cron } from 'croner';
import { DAY_MS, firstAt, offsetAt } from '../dates.ts';
import type { NewDelivery } from '../records/delivery-store.ts';
import type { Held } from '../records/hold-store.ts';
import type { Records } from '../records/records.ts';
import { type Digest, defaultRules, type QuietHours, type Receiver } from '../settings/receiver.ts';
import { weekdays } from '../yaml/days.ts';
import type { Message } from './message.ts';
import { severityOf } from './wording.ts';

/** A message for those whose entry under `notify` has the word `on`. */
export interface Wanted {
  on: string;
  event: string;
  message: Message;
  /** Of several messages about one thing that are held together, the last one is sent. */
  about?: string;
  /** Only for this receiver; without it, for everyone who asked for `on`. */
  to?: string;
}

export interface FollowingDeps {
  records: Pick<Records, 'runs' | 'batches' | 'findings' | 'openFindings' | 'problems'> & {
    targets: Pick<Records['targets'], 'all' | 'reasons'>;
  };
  receivers: Record<string, Receiver>;
  /** The address of the dashboard. */
  publicUrl?: string | undefined;
}

// Until when a message is held, by the rules of its receiver; pure.

/** Undefined when it is delivered at once. `receiver`: undefined for one that the configuration does not have. */
export function heldBy(
  receiver: Receiver | undefined,
  message: Pick<NewDelivery, 'event' | 'message'>,
  now: number,
): Held | undefined {
  // PagerDuty groups by itself: each of its incidents has a message of its own.
  if (!receiver || receiver.pagerduty || receiver.heartbeat) return undefined;
  if (receiver.digest) return { kind: 'digest', due: nextDigest(receiver.digest, now) };
  const { quiet_hours: quiet, group_wait: wait = defaultRules.group_wait } = receiver;
  const end = quiet && !isException(quiet, message) ? endOfQuiet(quiet, now) : undefined;
  if (end !== undefined) return { kind: 'quiet', due: end };
  return wait > 0 ? { kind: 'group', due: now + wait } : undefined;
}

/** After how long a receiver is reminded of a problem that goes on. */
export function repeatMsOf(receiver: Receiver | undefined): number {
  const repeat = receiver?.repeat_interval ?? defaultRules.repeat_interval;
  return repeat === 'never' ? Number.POSITIVE_INFINITY : repeat;
}

/** By its severity, or by the word that asks for it: `run.failed` is `failed`. */
function isException({ except }: QuietHours, message: Pick<NewDelivery, 'event' | 'message'>): boolean {
  const word = message.event.replace(/^[a-z]+\./, '');
  return except.some((one) => one === word || one === severityOf(message));
}

/** When the quiet hours end that `now` is in. */
export function endOfQuiet({ from, to, timezone, days }: QuietHours, now: number): number | undefined {
  const today = Math.floor((now + offsetAt(timezone, now)) / DAY_MS) * DAY_MS;
  const [begins, ends] = [sinceMidnight(from), sinceMidnight(to)];
  for (const day of [today - DAY_MS, today]) {
    const weekday = weekdays[new Date(day).getUTCDay()];
    if (days && weekday && !days.includes(weekday)) continue;
    const end = firstAt(timezone, day + ends + (ends > begins ? 0 : DAY_MS));
    if (now >= firstAt(timezone, day + begins) && now < end) return end;
  }
  return undefined;
}

const sinceMidnight = (time: string): number => Date.parse(`1970-01-01T${time}Z`);

/** The first time of the expression after `now`. One that never comes again holds nothing. */
const nextDigest = ({ cron, timezone }: Digest, now: number): number =>
  new Cron(cron, { timezone, mode: '5-part', domAndDow: true, paused: true })
    .nextRun(new Date(now))
    ?.getTime() ?? now;
