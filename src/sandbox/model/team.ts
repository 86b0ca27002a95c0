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
