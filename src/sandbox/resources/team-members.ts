/** Team members and invitations (spec 4.12). */
import type { TeamMember as ShownMember } from '../../contract/operations/team-members.ts';
import type { MemberFields, Role, TeamMember } from '../model/account.ts';
import type { World } from '../model/world.ts';
import { cannot } from '../refusal.ts';
import { idOf, nextNumber } from '../world/numbers.ts';
import { DAY } from '../world/time.ts';
import { type Handler, itemIn, lists, requireEmail, shown } from './handler.ts';

/** The view of a team member or an invitation (spec 2.14). */
export const teamMemberView = ({ fields, ...member }: TeamMember): ShownMember => ({
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

/** How long it takes until an invitation is accepted. */
const ACCEPTED_AFTER = 2 * DAY;

/** Sends an invitation, which is accepted after two days. */
export function invite(world: World, fields: MemberFields, at: number): TeamMember {
  const id = idOf('member', nextNumber(world, 'member'));
  const member: TeamMember = { id, fields, status: 'pending', twoFa: false, createdAt: at, updatedAt: at };
  world.team.set(id, member);
  world.agenda.add(at + ACCEPTED_AFTER, { does: 'join-team', member: id });
  return member;
}

/** Replaces a pending invitation with a new one with another id; the old one is no longer valid. */
export function replaceInvitation(
  world: World,
  old: TeamMember,
  fields: MemberFields,
  at: number,
): TeamMember {
  world.team.delete(old.id);
  return invite(world, fields, at);
}

/** Pending -> connected. Does nothing for an invitation that was replaced or deleted meanwhile. */
export function joinTeam(world: World, id: string, at: number): void {
  const member = world.team.get(id);
  if (member?.status !== 'pending') return;
  member.status = 'connected';
  member.updatedAt = at;
}

const memberOf = (world: World, id: string): TeamMember => itemIn(world.team, 'team member', id);

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
