/**
 * What will happen in the world by itself, in order of time.
 *
 * There are no timers: the first access to the world applies everything that has become due (`settle.ts`). So
 * a held clock works, and a fleet of any size costs nothing without access. Entries are plain data, not
 * functions.
 */

import type { Agenda, Entry } from '../model/tasks.ts';

/** An agenda as a binary heap, optionally with the `entries` of another one. */
export function createAgenda(entries: readonly Entry[] = []): Agenda {
  // A sorted array is a valid heap.
  const heap: Entry[] = entries.map(({ at, due }, order) => ({ at, due, order }));
  let made = heap.length;
  return {
    add(at, due) {
      heap.push({ at, order: made, due });
      made += 1;
      siftUp(heap);
    },
    take(now) {
      const first = heap[0];
      const last = heap.at(-1);
      if (!first || !last || first.at > now) return undefined;
      heap.pop();
      if (heap.length > 0) siftDown(heap, last);
      return first;
    },
    entries: () => [...heap].sort((left, right) => left.at - right.at || left.order - right.order),
  };
}

const before = (left: Entry, right: Entry) =>
  left.at < right.at || (left.at === right.at && left.order < right.order);

/** Moves the last entry up to its place. */
function siftUp(heap: Entry[]): void {
  let at = heap.length - 1;
  const entry = heap[at];
  while (entry && at > 0) {
    const above = (at - 1) >> 1;
    const parent = heap[above];
    if (!parent || !before(entry, parent)) break;
    heap[at] = parent;
    heap[above] = entry;
    at = above;
  }
}

/** Puts `entry` at the root and moves it down to its place. */
function siftDown(heap: Entry[], entry: Entry): void {
  let at = 0;
  for (;;) {
    const left = heap[2 * at + 1];
    const right = heap[2 * at + 2];
    const child = right && left && before(right, left) ? right : left;
    if (!child || !before(child, entry)) break;
    heap[at] = child;
    at = child === left ? 2 * at + 1 : 2 * at + 2;
  }
  heap[at] = entry;
}
