import type { Recurrence } from './recurrence.ts';
import type { Update } from './software.ts';

export interface Extensions {
  selection: 'all' | 'specific';
  /** Empty for all. */
  filenames: string[];
}

/** The fields of a schedule that a request can set. */
export interface ScheduleFields {
  name: string;
  schedule: Recurrence;
  startedAt: number;
  /** Null: all sites of the account at the time of the run. */
  siteIds: string[] | null;
  core: boolean;
  /** Null: not updated. */
  plugins: Extensions | null;
  themes: Extensions | null;
  backup: boolean;
  visualRegression: boolean;
}

export interface UpdateSchedule extends ScheduleFields {
  readonly id: string;
  status: 'active' | 'paused';
  nextAt: number;
  readonly createdAt: number;
  updatedAt: number;
}

/** The updates of a run at one site, in the form of the API. */
export interface SiteUpdates {
  id: string;
  core: { current_version: string; target_version: string } | null;
  plugins: Update[];
  themes: Update[];
}

export interface UpdateRun {
  readonly scheduleId: string;
  /** Its name at that time. */
  readonly scheduleName: string;
  readonly performedOn: number;
  /** Null when there was nothing to update. */
  readonly taskId: string | null;
  readonly sites: readonly SiteUpdates[];
}

export interface Updates {
  readonly schedules: Map<string, UpdateSchedule>;
  /** Oldest first. */
  readonly runs: UpdateRun[];
  /** The installed release of a product at a site, if it was updated since the start. */
  readonly installed: Map<string, number>;
}
