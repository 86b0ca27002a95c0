export interface CustomWork {
  readonly id: string;
  title: string;
  description: string;
  /** A day: `2026-11-21`. */
  performedOn: string;
  readonly createdAt: number;
  updatedAt: number;
}

/** The entries of one site. `made` counts all entries that were ever created. */
export interface SiteWorks {
  made: number;
  readonly works: Map<string, CustomWork>;
}

export type WorkFields = Pick<CustomWork, 'title' | 'description' | 'performedOn'>;
