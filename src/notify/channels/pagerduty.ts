/**
 * The Events API v2 of PagerDuty. What ends a problem resolves its incident: a run that succeeded, and findings of
 * which none are left. A repetition changes nothing there, since it has the same `dedup_key`.
 */
import { isoTime } from '../../clock.ts';
import type { NewDelivery } from '../../records/delivery-store.ts';
import type { Send } from '../channel-types.ts';
import { postJson } from '../post.ts';
import { severityOf, textOf, titleOf } from '../wording.ts';

const MAX_SUMMARY = 1_024;

/** One incident for the runs of a policy, one for its findings, and one each for an account's access, budget and address. */
function problemOf({ id, event, account, policy, message }: NewDelivery): { key: string; isOver: boolean } {
  // Whether its runs wait is a problem of the account, whichever run reports it.
  if (account !== undefined && /^(run\.blocked|system\.account-(blocked|back))$/.test(event))
    return { key: `caretaker/${account}`.slice(0, 255), isOver: event === 'system.account-back' };
  if (account !== undefined && /^system\.budget-/.test(event))
    return { key: `caretaker/${account}/budget`.slice(0, 255), isOver: event === 'system.budget-fits' };
  if (account !== undefined && /^system\.account-(moved|matches)$/.test(event))
    return { key: `caretaker/${account}/address`.slice(0, 255), isOver: event === 'system.account-matches' };
  if (policy === undefined) return { key: id, isOver: false };
  const { findings } = message as { findings?: { open?: number } };
  const isAboutFindings = event === 'policy.findings' || event === 'policy.recovered';
  return {
    key: ['caretaker', account, policy, isAboutFindings ? 'findings' : 'runs'].join('/').slice(0, 255),
    isOver:
      event === 'run.succeeded' || event === 'run.recovered' || (isAboutFindings && findings?.open === 0),
  };
}

export const sendToPagerDuty: Send<'pagerduty'> = (delivery, { url, routing_key }, tools) => {
  const { key, isOver } = problemOf(delivery);
  const payload = {
    summary: titleOf(delivery, MAX_SUMMARY),
    source: delivery.policy ?? 'caretaker',
    severity: severityOf(delivery),
    timestamp: isoTime(delivery.at),
    class: delivery.event,
    custom_details: { text: textOf(delivery), run: delivery.run ?? null, account: delivery.account ?? null },
  };
  const links = delivery.link === undefined ? {} : { links: [{ href: delivery.link, text: 'Open' }] };
  const head = { routing_key, dedup_key: key, client: 'Caretaker' };
  const body = isOver
    ? { ...head, event_action: 'resolve' }
    : { ...head, event_action: 'trigger', payload, ...links };
  return postJson(url, body, tools);
};
