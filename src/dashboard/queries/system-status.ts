/** Which processes are running, how the accounts are, and what blocks work: for every page and for the page "System". */
import { isoMinute } from '../../clock.ts';
import { formatBlocked } from '../../records/account-store.ts';
import { effectOf, type Freeze, formatFrozen, unfreezeCommand } from '../../records/freeze-store.ts';
import type { Presence } from '../../records/presence-store.ts';
import { formatStuckOutbox, isStuck } from '../../run/recordings.ts';
import type { AccountView, BrokenFile, DashboardOptions, Health } from '../options.ts';
import type { AccountFacts, Reader } from './reader.ts';

export type AccountStatus = AccountView & AccountFacts;

export interface SystemStatus {
  now: number;
  health: Health;
  processes: Presence[];
  accounts: AccountStatus[];
  freezes: Freeze[];
}

/** One problem, in one sentence. */
export interface Alert {
  /** `failed`: all work stops. `blocked`: some work waits. `partial`: work continues. */
  is: 'failed' | 'blocked' | 'partial';
  sentence: string;
  /** Since when. */
  since?: number;
  /** The page to look at, if it is another one than `/system`. */
  path?: string;
  file?: BrokenFile;
}

/** After so long without a supervisor the runs of an account have stopped: it acts every second. */
const LEADERLESS_TIMEOUT_MS = 30_000;
/** A service that does not answer is shown after this time. */
const SERVICE_FAILING_AFTER_MS = 15_000;

export async function systemStatusOf(
  context: Pick<DashboardOptions, 'clock' | 'health' | 'accounts'> & { reader: Reader },
): Promise<SystemStatus> {
  const now = context.clock.now();
  const health = await context.health();
  if (health.redis === 'down') return { now, health, processes: [], accounts: [], freezes: [] };
  const [processes, views, freezes] = await Promise.all([
    context.reader.presence(now),
    context.accounts(),
    context.reader.freezes(now),
  ]);
  const facts = await context.reader.accounts(views.map(({ account }) => account));
  const accounts = views.map((view, index) => ({ ...view, ...(facts[index] as AccountFacts) }));
  return { now, health, processes, accounts, freezes };
}

/** Whether any process works on the runs of this account. */
export async function isAttended(
  { reader, clock }: Pick<DashboardOptions, 'clock'> & { reader: Reader },
  account: string,
): Promise<boolean> {
  const now = clock.now();
  const [processes, facts] = await Promise.all([reader.presence(now), reader.accounts([account])]);
  return (
    processes.some(({ roles }) => roles.includes('worker')) || facts.some((one) => isSupervised(one, now))
  );
}

/** The time since a process last supervised the runs of an account, in ms; 0 while it has no active runs. */
export const supervisorLagMs = ({ activeRuns, attendedAt }: AccountFacts, now: number): number | undefined =>
  activeRuns === 0 ? 0 : attendedAt === undefined ? undefined : Math.max(0, now - attendedAt);

/** All problems, the worst first. */
export function alertsOf(status: SystemStatus): Alert[] {
  const { health, now } = status;
  if (health.redis === 'down') {
    return [{ is: 'failed', sentence: 'Redis does not answer: all work waits until it does.' }];
  }
  const found = [
    ...health.troubles.map(
      ({ stops, message }): Alert => ({ is: stops ? 'failed' : 'partial', sentence: sentenceOf(message) }),
    ),
    ...frozen(status),
    // Processes cannot report their presence while Redis refuses to write.
    ...(health.troubles.some(({ refuses }) => refuses) ? [] : missingRoles(status)),
    ...status.accounts.flatMap((account) => ofAccount(account, now, hasWorker(status))),
    ...health.waiting.map(
      (role): Alert => ({ is: 'blocked', sentence: `The ${role} of this process is not running.` }),
    ),
    ...health.moved.map(({ sentence }): Alert => ({ is: 'blocked', sentence })),
    ...differing(health.differences),
    ...health.brokenFiles.map(
      (file): Alert => ({ is: 'partial', sentence: brokenSentence(file), since: file.since, file }),
    ),
  ];
  return found.sort((a, b) => worstFirst.indexOf(a.is) - worstFirst.indexOf(b.is));
}

const worstFirst: readonly Alert['is'][] = ['failed', 'blocked', 'partial'];

/** At most this many differences are listed. */
const MAX_DIFFERENCES = 5;

/** Adds the capital letter and the full stop. */
const sentenceOf = (says: string): string => `${says[0]?.toUpperCase()}${says.slice(1)}.`;

function differing(differences: readonly string[]): Alert[] {
  const more = differences.length - MAX_DIFFERENCES;
  return [
    ...differences.slice(0, MAX_DIFFERENCES).map(sentenceOf),
    ...(more > 0 ? [`${more} more policies differ between daemons.`] : []),
  ].map((sentence): Alert => ({ is: 'partial', sentence }));
}

const frozen = ({ freezes }: SystemStatus): Alert[] =>
  freezes.map((freeze) => {
    const why = freeze.reason === undefined ? '' : ` (${freeze.reason})`;
    const begin = `${formatFrozen(freeze)} is frozen by ${freeze.by} until ${isoMinute(freeze.until)}${why}`;
    const sentence = `${sentenceOf(`${begin}: ${effectOf(freeze)}`)} “${unfreezeCommand(freeze)}” ends it.`;
    return { is: freeze.scope ? 'partial' : 'blocked', sentence, since: freeze.at };
  });

/** Whether a daemon works on runs, or a command such as `caretaker run` supervises them. */
const hasWorker = ({ processes, accounts, now }: SystemStatus): boolean =>
  processes.some(({ roles }) => roles.includes('worker')) ||
  accounts.some((facts) => isSupervised(facts, now));

const isSupervised = ({ supervisor, attendedAt }: AccountFacts, now: number): boolean =>
  supervisor !== undefined && now - (attendedAt ?? 0) <= LEADERLESS_TIMEOUT_MS;

function missingRoles(status: SystemStatus): Alert[] {
  const hasScheduler = status.processes.some(({ roles }) => roles.includes('scheduler'));
  const missing: Alert[] = [];
  if (!hasWorker(status)) {
    missing.push({
      is: 'failed',
      sentence:
        'No worker is running: runs wait until a daemon with the worker role starts (caretaker daemon).',
    });
  }
  if (!hasScheduler) {
    missing.push({
      is: 'blocked',
      sentence:
        'No scheduler is running: policies do not run on schedule until a daemon with the scheduler role starts.',
    });
  }
  return missing;
}

function ofAccount(account: AccountStatus, now: number, anyWorker: boolean): Alert[] {
  const { account: name, blocked, failingSince, activeRuns, attendedAt, heldRuns } = account;
  const held = heldRuns.map(
    (run): Alert => ({
      is: 'blocked',
      sentence: `The run ${run} is held because Redis was restored to an older state: release it or cancel it.`,
      path: `/runs/${encodeURIComponent(run)}`,
    }),
  );
  if (blocked)
    return [
      { is: 'blocked', sentence: formatBlocked(name, blocked, activeRuns), since: blocked.since },
      ...held,
    ];
  const found: Alert[] = held;
  if (isStuck(account.outbox, now))
    found.push({ is: 'partial', sentence: `${formatStuckOutbox(name, account.outbox)}.` });
  if (failingSince !== undefined && now - failingSince > SERVICE_FAILING_AFTER_MS) {
    const sentence = `The service does not respond for the account ${name}; its runs continue when it does.`;
    found.push({ is: 'blocked', sentence, since: failingSince });
  }
  if (anyWorker && activeRuns > 0 && now - (attendedAt ?? now) > LEADERLESS_TIMEOUT_MS) {
    const sentence = `The runs of the account ${name} have no supervisor: no running process knows the account, or the supervisor hangs.`;
    found.push({ is: 'blocked', sentence, ...(attendedAt === undefined ? {} : { since: attendedAt }) });
  }
  return found;
}

/** At most this many policies of a broken file are named in its sentence. */
const MAX_NAMED = 3;

function activeOf(active: BrokenFile['active'], kept: BrokenFile['kept']): string {
  if (active.length === 0) return 'no policy of it is active';
  if (kept.length === 0) {
    return active.length > MAX_NAMED
      ? `${active.length} policies of it are active`
      : `active: ${active.join(', ')}`;
  }
  if (kept.length > MAX_NAMED) return `${kept.length} policies of it stay active as they were before`;
  const as = kept.map(({ name, readAt }) => `${name} (read ${isoMinute(readAt)})`).join(', ');
  return `active as before: ${as}`;
}

/** Which file has errors, and which of its policies are active. */
export const brokenSentence = ({ file, errors, active, kept }: BrokenFile): string => {
  const count = errors.length === 1 ? 'an error' : `${errors.length} errors`;
  return `${file} has ${count}; ${activeOf(active, kept)}.`;
};
