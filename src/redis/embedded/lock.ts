/**
 * A lock between processes that survives the death of its owner.
 *
 * The folder holds numbered tickets. The highest one is the state: `free`, or the owner of the lock. A
 * process may add the next number only when the highest ticket is free or its owner is dead. Both states are
 * final, so a process with outdated information can only lose the race for a number. A ticket is a symbolic
 * link because the system creates one atomically, and refuses a second one of the same name. Nothing ever has
 * to be taken away from a dead owner, which is the weak point of locks made of a single file.
 */
import { readdir, readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CaretakerError, systemCodeOf } from '../../errors.ts';
import { isAlive, ownIdentity } from './processes.ts';

const free = 'free';
/** How many old tickets are kept, so that a process that reads an old state can see that it is outdated. */
const KEPT_TICKETS = 32;

export interface LockOptions {
  /** How long to wait for a living owner. Default: 60 s, more than any owner needs. */
  limitMs?: number;
  /** How long to wait after an owner's death, until what it started is visible. Default: 250 ms. */
  settleMs?: number;
}

/** A living process does not release the lock. */
export class LockHeldError extends CaretakerError {
  readonly code = 'DATA_FOLDER_BUSY';
  constructor(
    readonly folder: string,
    readonly owner: string,
  ) {
    super(
      `The process ${owner.split(' ')[0]} has held the lock of ${folder} for too long; check it, and stop it.`,
    );
  }
}

/**
 * Runs `work` while no other process, and no other call in this one, holds the lock of the folder.
 *
 * @throws {LockHeldError} when a living owner holds it for longer than the limit.
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
    // Releasing the lock must not fail: on a full disk the ticket is removed instead, and the previous one
    // counts.
    await symlink(free, path(ticket + 1)).catch(() => rm(path(ticket), { force: true }));
  }
}

async function takeLock(folder: string, { limitMs, settleMs }: Required<LockOptions>): Promise<number> {
  const deadline = performance.now() + limitMs;
  const me = await ownIdentity();
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
 * An old number is free again if its ticket was cleaned up after we looked. Then the ticket is given back.
 */
async function isNewest(folder: string, mine: number): Promise<boolean> {
  const tickets = await ticketsOf(folder);
  const isMine = Math.max(...tickets) === mine;
  const old = isMine ? tickets.filter((number) => number <= mine - KEPT_TICKETS) : [mine];
  await Promise.all(old.map((number) => rm(join(folder, String(number)), { force: true })));
  return isMine;
}
