/** All features that a plan may lack. */
export const planFeatures = ['plugin_branding', 'wp_login', 'update_backup', 'visual_regression'] as const;
export type PlanFeature = (typeof planFeatures)[number];

export interface Tag {
  readonly id: string;
  name: string;
  color: string | null;
  readonly siteIds: Set<string>;
  readonly createdAt: number;
  updatedAt: number;
}

export interface ClientFields {
  first_name: string;
  last_name: string;
  email: string;
  company_name: string;
  address: string;
  note: string;
}

export interface Client {
  readonly id: string;
  fields: ClientFields;
  readonly siteIds: Set<string>;
  readonly createdAt: number;
  updatedAt: number;
}

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

export type Role = 'collaborator' | 'administrator' | 'co_owner';

export interface MemberFields {
  name: string;
  email: string;
  companyName: string;
  note: string;
  role: Role;
  allSitesAccess: boolean;
  siteIds: Set<string>;
}

export interface TeamMember {
  readonly id: string;
  fields: MemberFields;
  status: 'pending' | 'connected';
  twoFa: boolean;
  readonly createdAt: number;
  updatedAt: number;
}

export interface ManagedAccount {
  readonly id: string;
  /** The owner of the account, who sent the invitation. */
  readonly email: string;
  /** The recipient of the invitation. The caller does not see invitations to others. */
  readonly invited: string;
  readonly role: 'collaborator' | 'administrator' | 'co_owner';
  readonly companyName: string;
  status: 'pending' | 'connected' | 'rejected';
  readonly allSitesAccess: boolean;
  readonly createdAt: number;
  updatedAt: number;
}

export interface Happening {
  username: string;
  ipAddress: string;
  countryCode: string;
  objectType: string;
  eventType: string;
  details: Record<string, unknown>;
}

export interface ActivityEntry extends Happening {
  readonly id: string;
  readonly at: number;
}

export interface DnsRecord {
  hostname: string;
  value: string;
  verified: boolean;
  /** When it is published and accepted, whether or not it was checked; null = never. */
  publishedAt: number | null;
}

export interface SenderEmail {
  readonly id: string;
  readonly email: string;
  name: string;
  status: 'pending' | 'verified';
  /** When the owner confirms; null = never. */
  confirmsAt: number | null;
  dkim: DnsRecord;
  returnPath: DnsRecord;
  /** How often DKIM was rotated. Each rotation gives a new key. */
  rotations: number;
  readonly createdAt: number;
  updatedAt: number;
}

export type Provider = 'provider_one' | 'provider_two';

export interface Destination {
  readonly id: string;
  readonly provider: Provider;
  readonly name: string;
  status: 'active' | 'inactive';
  /** The storage account; null when disconnected. */
  account: { email: string; id: string } | null;
  folder: { id: string; name: string } | null;
  testedAt: number | null;
  error: { code: string; message: string } | null;
  readonly createdAt: number;
  updatedAt: number;
}

/** The external storage of the account. */
export interface Storage {
  readonly saved: Map<Provider, Destination>;
  /** Providers that are currently neither usable nor visible. */
  readonly disabled: Set<Provider>;
  /** Whether tests of destinations fail because the providers are down. */
  down: boolean;
}

/** The look of the service's plugin and of the login screen on the account's sites (spec 2.6, 2.7). */
export type Author = { name: string; url: string };

export interface PluginBranding {
  type: 'default' | 'custom' | 'hidden';
  /** What was saved for `custom`; null for the other types. */
  name: string | null;
  description: string | null;
  author: Author | null;
}

export interface WpLogin {
  logoFile: string | null;
  label: string | null;
  errorMessage: string | null;
  tooltip: string | null;
  senderId: string | null;
}

export interface Branding {
  plugin: PluginBranding;
  login: WpLogin;
  /** The task of the last change. */
  taskId: string | null;
}

export interface Person {
  readonly name: string;
  readonly email: string;
}

export interface NoteVersion {
  readonly id: string;
  readonly content: string;
  readonly user: Person;
  /** When this was written. */
  readonly at: number;
}

export interface Note {
  readonly id: string;
  /** The current content, and its author. */
  content: string;
  user: Person;
  /** Earlier contents, oldest first. */
  readonly versions: NoteVersion[];
  readonly createdAt: number;
  updatedAt: number;
}

/** The notes of one site. `made` counts all notes that were ever created. */
export interface SiteNotes {
  made: number;
  readonly notes: Map<string, Note>;
}
