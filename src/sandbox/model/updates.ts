import type { Recurrence } from './recurrence.ts';
import type { Update } from './software.ts';

export interface Extensions {
  selection: 'all' | 'specific';
  /** Empty for all. */
  filenames: string[];
}

/** What a caller may decide about a schedule. */
export interface ScheduleFields {
  name: string;
  schedule: Recurrence;
  startedAt: number;
  /** Null: all sites of the account, whichever there are when it runs. */
  siteIds: string[] | null;
  core: boolean;
  /** Null: left alone. */
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

/** What a run updates at one site, in the shape the API shows. */
export interface SiteUpdates {
  id: string;
  core: { current_version: string; target_version: string } | null;
  plugins: Update[];
  themes: Update[];
}

export interface UpdateRun {
  readonly scheduleId: string;
  /** As it was then. */
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
  /** The release that a site has of a product, where it has been updated since the start. */
  readonly installed: Map<string, number>;
}
