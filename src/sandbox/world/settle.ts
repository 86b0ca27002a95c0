/** Applies what has become due, in order of time. */
import type { Due } from '../model/tasks.ts';
import type { World } from '../model/world.ts';
import { addStaging, ageStaging, setPhp } from '../resources/staging-sites.ts';
import { endTask, runTask } from '../resources/tasks.ts';
import { joinTeam } from '../resources/team-members.ts';
import { addReport, runScheduledReport } from './reports.ts';
import { connectSite, endSync, startDailySync } from './sites.ts';
import { createAgenda } from './time.ts';
import { applyUpdates, runUpdates } from './updates.ts';

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
    case 'break-site': {
      const site = world.sites.get(due.site);
      if (site) site.connected = false;
      break;
    }
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

// The account as it was some time ago, for lists that lag: a second world, to which all changes by callers
// and tests are applied with a delay. What happens by itself happens in both.

export interface Replica {
  /** Applies a change that was made at `at` to the replica too, after the lag. */
  repeat(at: number, act: (world: World) => unknown): void;
  /** The account at the time that the lists of `now` show, and that time. */
  behind(now: number): { world: World; now: number };
}

/** Starts with the current world. Costs as much memory as the world itself. */
export function openReplica(world: World, lagMs: number): Replica {
  const { agenda, ...rest } = world;
  const copy: World = { ...structuredClone(rest), agenda: createAgenda(structuredClone(agenda.entries())) };
  const pending: { at: number; act: (world: World) => unknown }[] = [];
  const catchUp = (until: number) => {
    for (let next = pending[0]; next && next.at <= until; next = pending[0]) {
      pending.shift();
      advance(copy, next.at);
      next.act(copy);
    }
    advance(copy, until);
  };
  return {
    repeat(at, act) {
      pending.push({ at, act });
      catchUp(at - lagMs);
    },
    behind(now) {
      catchUp(now - lagMs);
      return { world: copy, now: now - lagMs };
    },
  };
}
