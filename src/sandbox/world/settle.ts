/** Applies what has become due, in order of time. */
import type { Due } from '../model/tasks.ts';
import type { World } from '../model/world.ts';
import { connectSite, joinTeam } from './account.ts';
import { addReport } from './reports.ts';
import { runScheduledReport } from './scheduled-reports.ts';
import { addStaging, ageStaging, setPhp } from './staging.ts';
import { endSync, startDailySync } from './syncs.ts';
import { endTask, runTask } from './tasks.ts';
import { applyUpdates, runUpdates } from './update-runs.ts';

/** Brings the world up to `now`. Called before every access to the world. */
export function advance(world: World, now: number): void {
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
    case 'run-updates':
      runUpdates(world, due.schedule, at);
      break;
    case 'apply-updates':
      applyUpdates(world, due.task, at);
      break;
    case 'run-report':
      runScheduledReport(world, due.scheduled, at);
      break;
    case 'add-report':
      addReport(world, due.order, at);
      break;
    case 'daily-sync':
      startDailySync(world, due.site, at);
      break;
    case 'connect-site':
      connectSite(world, due.site, at);
      break;
    case 'join-team':
      joinTeam(world, due.member, at);
      break;
    case 'add-staging':
      addStaging(world, due.plan, at);
      break;
    case 'age-staging':
      ageStaging(world, due.staging, at);
      break;
    case 'set-staging-php':
      setPhp(world, due.staging, due.phpVersion, at);
      break;
  }
}
