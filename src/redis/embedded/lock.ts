/**
 * A lock between processes that survives the death of its owner.
 *
 * The folder holds numbered tickets, and the highest one is the state: `free`, or who holds the lock. Only
 * when the highest is free, or its owner dead, may somebody add the next number; both are for ever, so a look
 * that is out of date can at worst lose the race for a number. A ticket is a symbolic link because the system
 * makes those in one step, whole or not at all, and refuses a second one of the same name. Nothing ever has
 * to be taken away from a dead owner, which is where locks made of one file go wrong.
 */
import { readdir, readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CaretakerError, systemCodeOf } from '../../errors.ts';
import { isAlive, myself } from './processes.ts';

const free = 'free';
/** Old tickets that are kept, so that whoever looks at an old state still sees that it is old. */
const keptTickets = 32;

export interface LockOptions {
  /** How long to wait for a living owner. Default: 60 s, more than any owner needs. */
  limitMs?: number;
  /**
   * How long to hold back after an owner's death, for what it had begun to become visible. Default: 250 ms.
   */
  settleMs?: number;
}

/** Somebody who is alive does not let go of the lock. */
export class LockHeldError extends CaretakerError {
  readonly code = 'DATA_FOLDER_BUSY';
  constructor(
    readonly folder: string,
    readonly owner: string,
  ) {
    super(
      `The process ${owner.split(' ')[0]} has been busy with ${folder} for too long; look at it, and stop it.`,
    );
  }
}

/**
 * Does the work while no other process, and nobody else in this one, does any under the same folder's lock.
 *
 * @throws {LockHeldError} when a living owner keeps it for longer than the limit.
 */
export async function withLock<T>(
  folder: string,
  work: () => Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  const ticket = await takeLock(folder, { limitMs: 60_000, settleMs: 250, ...options });
  try {
    return await work();
  } finally {
    const path = (number: number) => join(folder, String(number));
    // Giving the lock back must not fail: on a full disk the ticket goes instead, and the one before it
    // counts.
    await symlink(free, path(ticket + 1)).catch(() => rm(path(ticket), { force: true }));
  }
}

async function takeLock(folder: string, { limitMs, settleMs }: Required<LockOptions>): Promise<number> {
  const deadline = performance.now() + limitMs;
  const me = await myself();
  for (;;) {
    const last = await newestTicket(folder);
    if (last.owner === free || !(await isAlive(last.owner))) {
      if (last.owner !== free) await sleep(settleMs);
      const mine = last.number + 1;
      if ((await claim(folder, mine, me)) && (await isNewest(folder, mine))) return mine;
    } else if (performance.now() > deadline) {
      throw new LockHeldError(folder, last.owner);
    }
    await sleep(10 + Math.random() * 20);
  }
}

async function newestTicket(folder: string): Promise<{ number: number; owner: string }> {
  const number = Math.max(0, ...(await ticketsOf(folder)));
  return { number, owner: number === 0 ? free : await readlink(join(folder, String(number))) };
}

async function ticketsOf(folder: string): Promise<number[]> {
  return (await readdir(folder)).map(Number).filter(Number.isInteger);
}

async function claim(folder: string, number: number, me: string): Promise<boolean> {
  try {
    await symlink(me, join(folder, String(number)));
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * A number could be had although it was used before: when it was swept since we looked. Then it is given
 * back.
 */
async function isNewest(folder: string, mine: number): Promise<boolean> {
  const tickets = await ticketsOf(folder);
  const isMine = Math.max(...tickets) === mine;
  const old = isMine ? tickets.filter((number) => number <= mine - keptTickets) : [mine];
  await Promise.all(old.map((number) => rm(join(folder, String(number)), { force: true })));
  return isMine;
}
