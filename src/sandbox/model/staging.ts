import type { Person } from './notes.ts';

export interface StagingSite {
  readonly id: string;
  readonly number: number;
  readonly siteId: string;
  status: 'initializing' | 'active' | 'paused' | 'suspended';
  readonly url: string;
  phpVersion: string;
  readonly user: Person;
  readonly snapshot: { readonly id: string; readonly createdAt: number };
  readonly createdAt: number;
  updatedAt: number;
  expiresAt: number;
  /** The time of its last use. */
  usedAt: number;
}

/** The data from which a copy is made. */
export interface StagingPlan {
  siteId: string;
  siteUrl: string;
  phpVersion: string;
  user: Person;
  snapshot: { id: string; createdAt: number };
}
