/** All data of the account. Times are milliseconds of the service's time. */
import type {
  ActivityEntry,
  Branding,
  Client,
  ManagedAccount,
  Person,
  PlanFeature,
  SenderEmail,
  SiteNotes,
  SiteWorks,
  Storage,
  Tag,
  TeamMember,
} from './account.ts';
import type { Reporting } from './reporting.ts';
import type { Site, StagingSite } from './site.ts';
import type { Agenda, Task, Updates } from './tasks.ts';

export interface World {
  readonly seed: number;
  /** When the service started. Past times of the fleet are relative to it. */
  readonly startedAt: number;
  /** The owner of the token. */
  readonly caller: Person;
  /** All collections are in order of creation, which is also the order of items that are equal in a sort. */
  readonly sites: Map<string, Site>;
  readonly clients: Map<string, Client>;
  readonly tags: Map<string, Tag>;
  readonly tasks: Map<string, Task>;
  readonly managedAccounts: Map<string, ManagedAccount>;
  readonly storage: Storage;
  readonly team: Map<string, TeamMember>;
  readonly staging: Map<string, StagingSite>;
  /**
   * By site. Items from before the start are generated when they are first requested (`notesOf`, `worksOf`,
   * `activityOf`).
   */
  readonly notes: Map<string, SiteNotes>;
  readonly customWorks: Map<string, SiteWorks>;
  readonly activity: Map<string, ActivityEntry[]>;
  readonly senderEmails: Map<string, SenderEmail>;
  readonly branding: Branding;
  readonly updates: Updates;
  readonly reporting: Reporting;
  /** What the account's plan lacks. */
  readonly planLacks: ReadonlySet<PlanFeature>;
  readonly agenda: Agenda;
  /** The rates of random failures, from 0 to 1. */
  readonly luck: { stuck: number; failing: number; aborted: number; storageDown: number };
  /** The highest number of each kind of item. Numbers are never reused. */
  readonly numbers: {
    site: number;
    client: number;
    tag: number;
    task: number;
    member: number;
    staging: number;
    sender: number;
    schedule: number;
    report: number;
    template: number;
    scheduled: number;
  };
}
