import type { ReportOrder } from './reporting.ts';
import type { StagingPlan } from './staging.ts';

export type Due =
  | { does: 'end-sync'; site: string; snapshot: string }
  | { does: 'run-task'; task: string }
  | { does: 'end-task'; task: string }
  | { does: 'run-updates'; schedule: string }
  | { does: 'apply-updates'; task: string }
  | { does: 'run-report'; scheduled: string }
  | { does: 'add-report'; order: ReportOrder }
  | { does: 'daily-sync'; site: string }
  | { does: 'connect-site'; site: string }
  | { does: 'join-team'; member: string }
  | { does: 'add-staging'; plan: StagingPlan }
  | { does: 'age-staging'; staging: string }
  | { does: 'set-staging-php'; staging: string; phpVersion: string };

export interface Entry {
  at: number;
  /** Keeps entries for the same time in the order in which they were added. */
  order: number;
  due: Due;
}

export interface Agenda {
  add(at: number, due: Due): void;
  /** Removes and returns the earliest entry that is due at `now`. */
  take(now: number): { at: number; due: Due } | undefined;
  /** All pending entries, in order. */
  entries(): Entry[];
}
