import type { ReportOrder } from './reporting.ts';
import type { StagingPlan, Update } from './site.ts';

export type TaskEnd = 'completed' | 'failed' | 'aborted';

export type TroubledEnd = Exclude<TaskEnd, 'completed'>;

export type TaskStatus = 'initializing' | 'running' | TaskEnd | 'cancelled';

/** The input of the request for each site, in the form of the API. */
export type TaskInput = { id: string } & Record<string, unknown>;

export interface Task {
  readonly id: string;
  readonly type: string;
  status: TaskStatus;
  readonly createdAt: number;
  updatedAt: number;
  readonly input: readonly TaskInput[];
  /** The steps at each site, in order. */
  readonly steps: readonly string[];
  readonly runsAt: number;
  readonly endsAt: number;
  readonly ends: TaskEnd;
  /** Sites whose work fails while the work on the others continues. */
  readonly troubled: Readonly<Record<string, TroubledEnd>>;
  /** What happens when it completes. */
  readonly makes: Due | null;
  /** When it ended, with any status. */
  endedAt: number | null;
}

export interface TaskOrder {
  type: string;
  input: readonly TaskInput[];
  /** How long it runs, in milliseconds of the service's time. */
  takesMs: number;
  /** Default: completed. */
  ends?: TaskEnd;
  /** The steps at each site; default: the usual ones of the type. */
  steps?: readonly string[];
  /** Default: none. A task that fails then does so at its last site. */
  troubled?: Readonly<Record<string, TroubledEnd>>;
  /** Default: nothing. */
  makes?: Due;
}

export type Due =
  | { does: 'end-sync'; site: string; snapshot: string }
  | { does: 'run-task'; task: string }
  | { does: 'end-task'; task: string }
  | { does: 'run-updates'; schedule: string }
  | { does: 'apply-updates'; task: string }
  | { does: 'break-site'; site: string }
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

export interface StepProgress {
  type: string;
  status: TaskStatus;
  percent: number;
}

export interface SiteProgress {
  id: string;
  status: TaskStatus;
  percent: number;
  steps: StepProgress[];
}

export type Recurrence =
  | 'daily'
  | 'weekly_on_day'
  | 'biweekly'
  | 'monthly_on_date'
  | 'monthly_on_week'
  | 'monthly_last_day';

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

/** A version of a plugin or theme that breaks the sites that take it. */
export interface BadVersion {
  filename: string;
  /** Only this version breaks sites; default: each that is installed. */
  version?: string;
  /** How long after the update the site is disconnected. */
  afterMs: number;
  /** Only on sites whose PHP version begins so. */
  php?: string;
}

export interface Updates {
  readonly schedules: Map<string, UpdateSchedule>;
  /** Oldest first. */
  readonly runs: UpdateRun[];
  /** The installed release of a product at a site, if it was updated since the start. */
  readonly installed: Map<string, number>;
  /** Missing in an account that was stored before there were any. */
  bad?: BadVersion[];
}
