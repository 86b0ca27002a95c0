/** The receivers of the configuration as people see them, without addresses and secrets. */
import { type Channels, kinds } from '../settings/channels.ts';
import { defaultRules, type Receiver } from '../settings/receiver.ts';
import { formatDuration } from '../yaml/duration.ts';

export interface ReceiverView {
  name: string;
  kind: keyof Channels;
  /** When it is notified, in words. */
  rules: string;
}

export const receiverViews = (receivers: Record<string, Receiver>): ReceiverView[] =>
  Object.entries(receivers).map(([name, receiver]) => ({
    name,
    kind: (Object.keys(kinds) as (keyof Channels)[]).find((kind) => kind in receiver) ?? 'webhook',
    rules: rulesOf(receiver),
  }));

function rulesOf(receiver: Receiver): string {
  const { heartbeat, pagerduty, digest, quiet_hours: quiet, events = [] } = receiver;
  if (heartbeat) return `A request every ${formatDuration(heartbeat.every)}, no messages`;
  const { repeat_interval: repeat, group_wait: wait } = { ...defaultRules, ...receiver };
  const parts = [
    pagerduty && 'each message at once',
    digest && `a digest (${digest.cron} ${digest.timezone})`,
    !pagerduty && !digest && (wait > 0 ? `grouped within ${formatDuration(wait)}` : 'each message at once'),
    quiet && `quiet from ${quiet.from} to ${quiet.to} ${quiet.timezone}`,
    repeat === 'never' ? 'no reminders' : `reminders after ${formatDuration(repeat)}`,
    events.length > 0 && `also ${events.join(', ')}`,
  ].filter((part) => typeof part === 'string');
  const text = parts.join(', ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
