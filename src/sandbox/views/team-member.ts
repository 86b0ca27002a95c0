/** The view of a team member or an invitation (spec 2.14). */
import type { TeamMember as Shown } from '../../contract/resources/team-member.ts';
import type { TeamMember } from '../model/team.ts';
import { shown } from './timestamp.ts';

export const teamMemberView = ({ fields, ...member }: TeamMember): Shown => ({
  id: member.id,
  name: fields.name,
  email: fields.email,
  company_name: fields.companyName,
  note: fields.note,
  role: fields.role,
  status: member.status,
  all_sites_access: fields.allSitesAccess,
  site_ids: [...fields.siteIds],
  two_fa_enabled: member.twoFa,
  created_at: shown(member.createdAt),
  updated_at: shown(member.updatedAt),
});
