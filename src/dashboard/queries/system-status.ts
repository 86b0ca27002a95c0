/** Is anybody at work? What every page says at its top, and the page about it in full. */
import { isoMinute } from '../../clock.ts';
import type { Freeze } from '../../records/freeze-store.ts';
import type { Presence } from '../../records/presence-store.ts';
import type { AccountView, BrokenFile, DashboardOptions, Health } from '../options.ts';
import type { AccountFacts, Reader } from './reader.ts';

export type AccountStanding = AccountView & AccountFacts;

export interface SystemStatus {
  now: number;
  health: Health;
  processes: Presence[];
  accounts: AccountStanding[];
  freeze?: Freeze | undefined;
}

/** One thing that stands in the way, in one sentence. */
export interface Alert {
  /** How bad: nothing moves, some of it waits, or only something to look at. */
  is: 'failed' | 'blocked' | 'partial';
  sentence: string;
  /** Since when. */
  since?: number;
  file?: BrokenFile;
}

/**
 * An account with runs that nobody has looked after for so long stands still: a supervisor does so every
 * second.
 */
const LEADERLESS_TIMEOUT_MS = 30_000;
/** A service that gives no answer for less than that is not worth a sentence yet. */
const PRESENCE_TIMEOUT_MS = 15_000;

export async function systemStatusOf(
  context: Pick<DashboardOptions, 'clock' | 'health' | 'accounts'> & { reader: Reader },
): Promise<SystemStatus> {
  const now = context.clock.now();
  const health = await context.health();
  if (health.redis === 'down') return { now, health, processes: [], accounts: [] };
  const [processes, views, freeze] = await Promise.all([
    context.reader.presence(now),
    context.accounts(),
    context.reader.freeze(now),
  ]);
  const accounts = await Promise.all(
    views.map(async (view) => ({ ...view, ...(await context.reader.account(view.account)) })),
  );
  return { now, health, processes, accounts, freeze };
}

/** Whether any process sees to it that a run of this account goes on. */
export async function isAttended(
  { reader, clock }: Pick<DashboardOptions, 'clock'> & { reader: Reader },
  account: string,
): Promise<boolean> {
  const now = clock.now();
  const [processes, facts] = await Promise.all([reader.presence(now), reader.account(account)]);
  return processes.some(({ roles }) => roles.includes('worker')) || isTended(facts, now);
}

/** How long ago somebody looked after the runs of an account, in ms; 0 while there are none to look after. */
export const supervisorLagMs = ({ activeRuns, attendedAt }: AccountFacts, now: number): number | undefined =>
  activeRuns === 0 ? 0 : attendedAt === undefined ? undefined : Math.max(0, now - attendedAt);

/** What stands in the way, the worst first. */
export function alertsOf(standing: SystemStatus): Alert[] {
  const { health, now } = standing;
  if (health.redis === 'down') {
    return [{ is: 'failed', sentence: 'Redis does not answer: nothing moves until it does.' }];
  }
  const found = [
    ...health.troubles.map(
      ({ stops, says }): Alert => ({ is: stops ? 'failed' : 'partial', sentence: sentenceOf(says) }),
    ),
    ...frozen(standing),
    // No process can show that it is there while Redis refuses to write.
    ...(health.troubles.some(({ refuses }) => refuses) ? [] : nobody(standing)),
    ...standing.accounts.flatMap((account) => ofAccount(account, now, someoneWorks(standing))),
    ...health.waiting.map(
      (role): Alert => ({ is: 'blocked', sentence: `The ${role} of this process is not running.` }),
    ),
    ...differing(health.differences),
    ...health.brokenFiles.map(
      (file): Alert => ({ is: 'partial', sentence: brokenSentence(file), since: file.since, file }),
    ),
  ];
  return found.sort((a, b) => worstFirst.indexOf(a.is) - worstFirst.indexOf(b.is));
}

const worstFirst: readonly Alert['is'][] = ['failed', 'blocked', 'partial'];

/** So many differing policies are named. */
const MAX_DIFFERENCES = 5;

/** A sentence with its beginning and its end. */
const sentenceOf = (says: string): string => `${says[0]?.toUpperCase()}${says.slice(1)}.`;

function differing(differences: readonly string[]): Alert[] {
  const more = differences.length - MAX_DIFFERENCES;
  return [
    ...differences.slice(0, MAX_DIFFERENCES).map(sentenceOf),
    ...(more > 0 ? [`${more} more policies differ between daemons.`] : []),
  ].map((sentence): Alert => ({ is: 'partial', sentence }));
}

function frozen({ freeze }: SystemStatus): Alert[] {
  if (!freeze) return [];
  const why = freeze.reason === undefined ? '' : ` (${freeze.reason})`;
  const sentence = `Everything is frozen by ${freeze.by} until ${isoMinute(freeze.until)}${why}: no run starts. “caretaker unfreeze” ends it.`;
  return [{ is: 'blocked', sentence, since: freeze.at }];
}

/** Whether runs go on: a daemon is here, or a command like `caretaker run` looks after them. */
const someoneWorks = ({ processes, accounts, now }: SystemStatus): boolean =>
  processes.some(({ roles }) => roles.includes('worker')) || accounts.some((facts) => isTended(facts, now));

const isTended = ({ supervisor, attendedAt }: AccountFacts, now: number): boolean =>
  supervisor !== undefined && now - (attendedAt ?? 0) <= LEADERLESS_TIMEOUT_MS;

function nobody(standing: SystemStatus): Alert[] {
  const hasScheduler = standing.processes.some(({ roles }) => roles.includes('scheduler'));
  const missing: Alert[] = [];
  if (!someoneWorks(standing)) {
    missing.push({
      is: 'failed',
      sentence:
        'No worker is running: runs wait until a daemon with the worker role starts (caretaker daemon).',
    });
  }
  if (!hasScheduler) {
    missing.push({
      is: 'blocked',
      sentence: 'No daemon with the scheduler role is here: policies do not fire by themselves.',
    });
  }
  return missing;
}

function ofAccount(account: AccountStanding, now: number, anyoneWorks: boolean): Alert[] {
  const { account: name, blocked, failingSince, activeRuns, attendedAt, heldRuns } = account;
  const held = heldRuns.map(
    (run): Alert => ({
      is: 'blocked',
      sentence: `The run ${run} is held, since Redis was put back to an older state: release it or cancel it.`,
    }),
  );
  if (blocked) {
    const sentence = `The account ${name} refuses us, and its runs wait: ${blocked.why}`;
    return [{ is: 'blocked', sentence, since: blocked.since }, ...held];
  }
  const found: Alert[] = held;
  if (failingSince !== undefined && now - failingSince > PRESENCE_TIMEOUT_MS) {
    const sentence = `The service does not respond for the account ${name}; its runs continue when it does.`;
    found.push({ is: 'blocked', sentence, since: failingSince });
  }
  if (anyoneWorks && activeRuns > 0 && now - (attendedAt ?? now) > LEADERLESS_TIMEOUT_MS) {
    const sentence = `The runs of the account ${name} have no leader: no running process knows the account, or the leader hangs.`;
    found.push({ is: 'blocked', sentence, ...(attendedAt === undefined ? {} : { since: attendedAt }) });
  }
  return found;
}

/** So many policies of a broken file are named in its sentence. */
const MAX_NAMED = 3;

function activeOf(inForce: BrokenFile['inForce'], kept: BrokenFile['kept']): string {
  if (inForce.length === 0) return 'no policy of it is active';
  if (kept.length === 0) {
    return inForce.length > MAX_NAMED
      ? `${inForce.length} policies of it are active`
      : `active: ${inForce.join(', ')}`;
  }
  if (kept.length > MAX_NAMED) return `${kept.length} policies of it stay active as they were before`;
  const as = kept.map(({ name, readAt }) => `${name} (read ${isoMinute(readAt)})`).join(', ');
  return `active as before: ${as}`;
}

const brokenSentence = ({ file, mistakes, inForce, kept }: BrokenFile): string => {
  const count = mistakes.length === 1 ? 'an error' : `${mistakes.length} errors`;
  return `${file} has ${count}; ${activeOf(inForce, kept)}.`;
};
