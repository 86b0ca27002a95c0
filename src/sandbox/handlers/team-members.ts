/** Team members and invitations (spec 4.12). */

import type { MemberFields, Role, TeamMember } from '../model/account.ts';
import type { World } from '../model/world.ts';
import { cannot, notFound } from '../refusal.ts';
import { teamMemberView } from '../views/account.ts';
import { invite, replaceInvitation } from '../world/account.ts';
import { type Handler, lists } from './handler.ts';
import { requireEmail } from './texts.ts';

function memberOf(world: World, id: string): TeamMember {
  const member = world.team.get(id);
  if (!member) throw notFound('team member', id);
  return member;
}

/** An unaccepted invitation has no second factor, so `two_fa_enabled` = false matches it. */
export const listTeamMembers = lists<'listTeamMembers', TeamMember>({
  items: ({ world }) => world.team.values(),
  fields: {
    name: ({ fields }) => fields.name,
    email: ({ fields }) => fields.email,
    company_name: ({ fields }) => fields.companyName,
    role: ({ fields }) => fields.role,
    two_fa_enabled: (member) => member.twoFa,
    status: (member) => member.status,
    created_at: (member) => member.createdAt,
    updated_at: (member) => member.updatedAt,
  },
  view: teamMemberView,
});

export const showTeamMember: Handler<'showTeamMember'> = ({ world, params }) => ({
  team_member: teamMemberView(memberOf(world, params.team_member_id)),
});

export const createTeamMember: Handler<'createTeamMember'> = ({ world, now, body, changed }) => {
  const { email, ...given } = body.team_member;
  const fields = fieldsWith(world, { ...nobody, email: requireFreeEmail(world, email) }, given);
  const member = invite(world, fields, now);
  changed(member.id);
  return { team_member: teamMemberView(member) };
};

export const updateTeamMember: Handler<'updateTeamMember'> = ({ world, now, params, body, changed }) => {
  const member = memberOf(world, params.team_member_id);
  const fields = fieldsWith(world, member.fields, body.team_member);
  changed(member.id);
  if (member.status === 'pending') {
    return { team_member: teamMemberView(replaceInvitation(world, member, fields, now)) };
  }
  Object.assign(member, { fields, updatedAt: now });
  return { team_member: teamMemberView(member) };
};

export const deleteTeamMember: Handler<'deleteTeamMember'> = ({ world, params, changed }) => {
  const member = memberOf(world, params.team_member_id);
  world.team.delete(member.id);
  changed(member.id);
};

export const resendTeamMemberInvitation: Handler<'resendTeamMemberInvitation'> = (ask) => {
  const { world, now, params, changed } = ask;
  const member = memberOf(world, params.team_member_id);
  if (member.status !== 'pending') {
    throw cannot('invitation_not_pending', 'The invitation has been accepted already.');
  }
  changed(member.id);
  return { team_member: teamMemberView(replaceInvitation(world, member, member.fields, now)) };
};

const nobody: MemberFields = {
  name: '',
  email: '',
  companyName: '',
  note: '',
  role: 'collaborator',
  allSitesAccess: false,
  siteIds: new Set(),
};

interface Given {
  name?: string | undefined;
  company_name?: string | undefined;
  note?: string | undefined;
  role?: Role | undefined;
  all_sites_access?: boolean | undefined;
  site_ids?: string[] | undefined;
}

/** Merges the request into the fields. Every site must exist. */
function fieldsWith(world: World, before: MemberFields, given: Given): MemberFields {
  const siteIds = new Set(given.site_ids ?? before.siteIds);
  for (const id of siteIds) {
    if (!world.sites.has(id)) throw cannot('site_not_found', `There is no site "${id}".`);
  }
  return {
    email: before.email,
    name: given.name ?? before.name,
    companyName: given.company_name ?? before.companyName,
    note: given.note ?? before.note,
    role: given.role ?? before.role,
    allSitesAccess: given.all_sites_access ?? before.allSitesAccess,
    siteIds,
  };
}

function requireFreeEmail(world: World, email: string): string {
  requireEmail(email);
  const wanted = email.toLowerCase();
  const taken = [world.caller.email, ...[...world.team.values()].map(({ fields }) => fields.email)];
  if (taken.some((one) => one.toLowerCase() === wanted)) {
    throw cannot('already_in_team', 'A person with this address is in the team or invited already.');
  }
  return email;
}
