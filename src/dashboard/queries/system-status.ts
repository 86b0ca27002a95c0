/** Is anybody at work? What every page says at its top, and the page about it in full. */
import { isoMinute } from '../../clock.ts';
import type { Freeze } from '../../records/freeze-store.ts';
import type { Presence } from '../../records/presence-store.ts';
import type { Parts } from '../http/context.ts';
import type { AccountView, BrokenFile, Health } from '../options.ts';
import type { AccountFacts } from './reader.ts';

export type AccountStanding = AccountView & AccountFacts;

export interface Standing {
  now: number;
  health: Health;
  processes: Presence[];
  accounts: AccountStanding[];
  freeze?: Freeze | undefined;
}

/** One thing that stands in the way, in one sentence. */
export interface Obstacle {
  /** How bad: nothing moves, some of it waits, or only something to look at. */
  is: 'failed' | 'blocked' | 'partial';
  sentence: string;
  /** Since when. */
  since?: number;
  file?: BrokenFile;
}

/** An account with runs that nobody has looked after for so long stands still: a steward does so every second. */
const ALONE_MS = 30_000;
/** A service that gives no answer for less than that is not worth a sentence yet. */
const PATIENCE_MS = 15_000;

export async function standingOf(
  parts: Pick<Parts, 'reader' | 'clock' | 'health' | 'accounts'>,
): Promise<Standing> {
  const now = parts.clock.now();
  const health = await parts.health();
  if (health.redis === 'down') return { now, health, processes: [], accounts: [] };
  const [processes, views, freeze] = await Promise.all([
    parts.reader.presence(now),
    parts.accounts(),
    parts.reader.freeze(now),
  ]);
  const accounts = await Promise.all(
    views.map(async (view) => ({ ...view, ...(await parts.reader.account(view.account)) })),
  );
  return { now, health, processes, accounts, freeze };
}

/** Whether any process sees to it that a run of this account goes on. */
export async function isAttended(
  { reader, clock }: Pick<Parts, 'reader' | 'clock'>,
  account: string,
): Promise<boolean> {
  const now = clock.now();
  const [processes, facts] = await Promise.all([reader.presence(now), reader.account(account)]);
  return processes.some(({ roles }) => roles.includes('worker')) || isTended(facts, now);
}

/** How long ago somebody looked after the runs of an account, in ms; 0 while there are none to look after. */
export const stewardLagMs = ({ activeRuns, attendedAt }: AccountFacts, now: number): number | undefined =>
  activeRuns === 0 ? 0 : attendedAt === undefined ? undefined : Math.max(0, now - attendedAt);

/** What stands in the way, the worst first. */
export function obstaclesOf(standing: Standing): Obstacle[] {
  const { health, now } = standing;
  if (health.redis === 'down') {
    return [{ is: 'failed', sentence: 'Redis does not answer: nothing moves until it does.' }];
  }
  const found = [
    ...health.troubles.map(
      ({ stops, says }): Obstacle => ({ is: stops ? 'failed' : 'partial', sentence: sentenceOf(says) }),
    ),
    ...frozen(standing),
    // No process can show that it is there while Redis refuses to write.
    ...(health.troubles.some(({ refuses }) => refuses) ? [] : nobody(standing)),
    ...standing.accounts.flatMap((account) => ofAccount(account, now, someoneWorks(standing))),
    ...health.waiting.map(
      (role): Obstacle => ({ is: 'blocked', sentence: `The ${role} of this process is not at work.` }),
    ),
    ...differing(health.differences),
    ...health.brokenFiles.map(
      (file): Obstacle => ({ is: 'partial', sentence: brokenSentence(file), since: file.since, file }),
    ),
  ];
  return found.sort((a, b) => worstFirst.indexOf(a.is) - worstFirst.indexOf(b.is));
}

const worstFirst: readonly Obstacle['is'][] = ['failed', 'blocked', 'partial'];

/** So many differing policies are named. */
const MOST_DIFFERENCES = 5;

/** A sentence with its beginning and its end. */
const sentenceOf = (says: string): string => `${says[0]?.toUpperCase()}${says.slice(1)}.`;

function differing(differences: readonly string[]): Obstacle[] {
  const more = differences.length - MOST_DIFFERENCES;
  return [
    ...differences.slice(0, MOST_DIFFERENCES).map(sentenceOf),
    ...(more > 0 ? [`${more} more policies differ between daemons.`] : []),
  ].map((sentence): Obstacle => ({ is: 'partial', sentence }));
}

function frozen({ freeze }: Standing): Obstacle[] {
  if (!freeze) return [];
  const why = freeze.reason === undefined ? '' : ` (${freeze.reason})`;
  const sentence = `Everything is frozen by ${freeze.by} until ${isoMinute(freeze.until)}${why}: no run begins. “caretaker unfreeze” ends it.`;
  return [{ is: 'blocked', sentence, since: freeze.at }];
}

/** Whether runs go on: a daemon is here, or a command like `caretaker run` looks after them. */
const someoneWorks = ({ processes, accounts, now }: Standing): boolean =>
  processes.some(({ roles }) => roles.includes('worker')) || accounts.some((facts) => isTended(facts, now));

const isTended = ({ steward, attendedAt }: AccountFacts, now: number): boolean =>
  steward !== undefined && now - (attendedAt ?? 0) <= ALONE_MS;

function nobody(standing: Standing): Obstacle[] {
  const hasScheduler = standing.processes.some(({ roles }) => roles.includes('scheduler'));
  const missing: Obstacle[] = [];
  if (!someoneWorks(standing)) {
    missing.push({
      is: 'failed',
      sentence: 'Nobody is at work: runs wait until a daemon with the worker role starts (caretaker daemon).',
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

function ofAccount(account: AccountStanding, now: number, anyoneWorks: boolean): Obstacle[] {
  const { account: name, blocked, failingSince, activeRuns, attendedAt, heldRuns } = account;
  const held = heldRuns.map(
    (run): Obstacle => ({
      is: 'blocked',
      sentence: `The run ${run} is held, since Redis was put back to an older state: release it or cancel it.`,
    }),
  );
  if (blocked) {
    const sentence = `The account ${name} refuses us, and its runs wait: ${blocked.why}`;
    return [{ is: 'blocked', sentence, since: blocked.since }, ...held];
  }
  const found: Obstacle[] = held;
  if (failingSince !== undefined && now - failingSince > PATIENCE_MS) {
    const sentence = `The service does not answer for the account ${name}; its runs go on when it does.`;
    found.push({ is: 'blocked', sentence, since: failingSince });
  }
  if (anyoneWorks && activeRuns > 0 && now - (attendedAt ?? now) > ALONE_MS) {
    const sentence = `Nobody looks after the runs of the account ${name}: no process at work knows it, or the one that did hangs.`;
    found.push({ is: 'blocked', sentence, ...(attendedAt === undefined ? {} : { since: attendedAt }) });
  }
  return found;
}

/** So many policies of a broken file are named in its sentence. */
const MOST_NAMED = 3;

function activeOf(inForce: BrokenFile['inForce'], kept: BrokenFile['kept']): string {
  if (inForce.length === 0) return 'no policy of it is active';
  if (kept.length === 0) {
    return inForce.length > MOST_NAMED
      ? `${inForce.length} policies of it are active`
      : `active: ${inForce.join(', ')}`;
  }
  if (kept.length > MOST_NAMED) return `${kept.length} policies of it stay active as they were before`;
  const as = kept.map(({ name, readAt }) => `${name} (read ${isoMinute(readAt)})`).join(', ');
  return `active as before: ${as}`;
}

const brokenSentence = ({ file, mistakes, inForce, kept }: BrokenFile): string => {
  const count = mistakes.length === 1 ? 'an error' : `${mistakes.length} errors`;
  return `${file} has ${count}; ${activeOf(inForce, kept)}.`;
};
