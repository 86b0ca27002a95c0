/** Lets happen what has become due, in order of time. */
import type { Due } from './agenda.ts';
import { endSync } from './syncs.ts';
import { endTask, runTask } from './tasks.ts';
import type { World } from './world.ts';

/** Brings the world up to `now`; called before anybody looks at it or changes it. */
export function settle(world: World, now: number): void {
  for (let entry = world.agenda.take(now); entry; entry = world.agenda.take(now)) {
    perform(world, entry.due, entry.at);
  }
}

function perform(world: World, due: Due, at: number): void {
  switch (due.does) {
    case 'end-sync':
      endSync(world, due.site, due.snapshot, at);
      break;
    case 'run-task':
      runTask(world, due.task, at);
      break;
    case 'end-task': {
      const next = endTask(world, due.task, at);
      if (next) perform(world, next, at);
      break;
    }
  }
}
