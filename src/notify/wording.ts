/** What channels for people make of a delivery: its title, its severity, and texts that fit. */
import type { NewDelivery } from '../records/delivery-store.ts';
import type { Counts } from '../run/run.ts';
import { type Severity, severities } from '../settings/notify-words.ts';
import { visible } from '../text.ts';

const severityOfType: Record<string, Severity> = {
  'run.failed': 'error',
  'run.stopped': 'error',
  'run.blocked': 'error',
  'run.deadline': 'error',
  'run.gate-closed': 'error',
  'run.approval-expired': 'error',
  'policy.paused': 'error',
  'system.account-blocked': 'error',
  'system.account-moved': 'error',
  'system.nobody-running': 'error',
  'system.policy-file-broken': 'error',
  'system.missed-time': 'warning',
  'system.clock-jumped': 'warning',
  'system.queue-paused': 'warning',
  'system.budget-cannot-fit': 'warning',
  'run.partial': 'warning',
  'run.cancelled': 'warning',
  'run.approval-wanted': 'warning',
  'policy.findings': 'warning',
};

type Event = Pick<NewDelivery, 'event' | 'message'>;

/** The severity of a summary is the highest of its messages. */
export function severityOf(delivery: Event): Severity {
  const all = delivery.event === 'summary' ? eventsIn(delivery.message) : [delivery];
  const found = all.map((one) =>
    severities.indexOf(onlyFound(one) ? 'warning' : (severityOfType[one.event] ?? 'info')),
  );
  return severities[Math.max(0, ...found)] ?? 'info';
}

const eventsIn = ({ messages }: NewDelivery['message']): Event[] =>
  Array.isArray(messages) ? messages.map(({ type, data }) => ({ event: String(type), message: data })) : [];

/** Whether nothing failed in the run but that something was found. */
function onlyFound({ event, message }: Event): boolean {
  const { counts } = message as { counts?: Counts };
  return (
    /^run\.(failed|partial)$/.test(event) && counts?.found !== undefined && counts.found === counts.failed
  );
}

/** What happened to what, in a few words: "nightly-sync failed". */
export const subjectOf = (delivery: Event & Pick<NewDelivery, 'policy'>): string =>
  [delivery.policy, onlyFound(delivery) ? 'found something' : (events[delivery.event] ?? delivery.event)]
    .filter((part) => part !== undefined)
    .join(' ');

const events: Record<string, string> = {
  'run.succeeded': 'succeeded',
  'run.partial': 'ended with failures',
  'run.failed': 'failed',
  'run.cancelled': 'was cancelled',
  'run.stopped': 'was stopped',
  'run.skipped': 'was skipped',
  'run.blocked': 'is blocked',
  'run.recovered': 'recovered',
  'run.deadline': 'misses its deadline',
  'run.approval-wanted': 'waits for an approval',
  'run.approval-expired': 'was not approved',
  'run.gate-closed': 'has a closed gate',
  'policy.paused': 'was paused',
  'policy.findings': 'has new findings',
  'policy.recovered': 'has resolved findings',
  'system.account-blocked': 'account blocked',
  'system.account-back': 'account back',
  'system.account-moved': 'account with another address',
  'system.account-matches': 'account with its address again',
  'system.policy-file-broken': 'policy file broken',
  'system.policy-file-fixed': 'policy file fixed',
  'system.missed-time': 'missed a scheduled time',
  'system.nobody-running': 'no daemon was running',
  'system.clock-jumped': 'clock jumped',
  'system.queue-paused': 'queue paused',
  'system.budget-cannot-fit': 'budget too small',
  'system.budget-fits': 'budget large enough again',
};

/** The text of a message, without invisible characters but line breaks. */
export const textOf = ({ message }: Pick<NewDelivery, 'message'>): string => visible(message.text, '\n');

/** The first line of the text, cut to `max` characters. */
export const titleOf = (delivery: Pick<NewDelivery, 'message'>, max = 120): string =>
  cut(textOf(delivery).split('\n', 1)[0] ?? '', max);

/** At most `max` characters, with an ellipsis for what is missing. Never half of a character. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const kept = text.slice(0, max - 1);
  return `${/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept}…`;
}
