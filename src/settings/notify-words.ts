/** What people can be notified of, by the words of the configuration and of policies. */
import { isFinal } from '../run/moves.ts';
import { runStatuses } from '../run/run.ts';

/**
 * For `notify.on` of policies: every end of a run, that the account refuses access, that the policy was paused by itself,
 * that findings are new or resolved, and that a person has to decide about a run.
 */
export const runWords = [
  ...runStatuses.filter(isFinal),
  ...([
    'blocked',
    'paused',
    'findings',
    'recovered',
    'deadline',
    'approval-wanted',
    'approval-expired',
    'gate-closed',
  ] as const),
];

/** For `events` of receivers: what is about no run, with one sentence for the docs. */
export const systemEvents = {
  'account-blocked': 'an account refuses access, so that its runs wait',
  'account-back': 'an account accepts requests again',
  'account-moved':
    'the records of an account belong to another address than that of a process, which does nothing for the account',
  'account-matches': 'the records of an account belong to the address of every process again',
  'policy-file-broken':
    'a policy file or the whole policies folder cannot be read or is empty; the last valid version stays active',
  'policy-file-fixed': 'a policy file that was broken can be read again',
  'missed-time': 'scheduled times of a policy passed without a run, and are too old for its catchup',
  'nobody-running':
    'no daemon worked for five minutes or longer. The first one that works again sends it: a `heartbeat` reports it at once',
  'clock-jumped': 'the clock of Redis, by which all processes work, went forward or back',
  'queue-paused': 'a queue was paused, so that its work waits',
  'budget-cannot-fit':
    'the schedules of the next 24 hours need more requests than the budget of an account has, or a policy cannot end in time',
  'budget-fits': 'the budget of an account is large enough again',
} as const;
export type SystemEvent = keyof typeof systemEvents;
export const systemWords = Object.keys(systemEvents) as SystemEvent[];

export const severities = ['info', 'warning', 'error'] as const;
export type Severity = (typeof severities)[number];
