/** What jobs are given of their run and of the service's items. */

/** What jobs need to know about their run. */
export interface RunContext {
  policy: string;
  /** The scheduled time of the run, in milliseconds since 1970. Periods such as last month count from it. */
  at: number;
  /** The policy's time zone (`schedule.timezone`). */
  timezone: string;
}

/** Items of the service by the names of their variables: `site`, `note`. */
export type Items = Readonly<Record<string, unknown>>;
