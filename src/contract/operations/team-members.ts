/** Team members and invitations (spec 4.12). */
import { z } from 'zod';
import { field, flag, listTimestamp, oneOf, text } from '../list.ts';
import { operation } from '../operation.ts';
import { PageMeta, roles } from '../resources/shared.ts';
import { TeamMember } from '../resources/team-member.ts';
import { idOf, nonBlank, part } from '../schema.ts';

/** An invitation is replaced while it is pending. */
const replaces = { list: 'listTeamMembers', by: 'email', status: 'pending' } as const;

const teamMember = part({ team_member: TeamMember }, 'team_member');
// Not specified: which fields an invitation requires in addition to the address.
const fields = {
  name: z.optional(z.string()),
  role: z.optional(z.enum(roles)),
  company_name: z.optional(z.string()),
  all_sites_access: z.optional(z.boolean()),
  note: z.optional(z.string()),
  site_ids: z.optional(z.array(idOf('site'))),
};

export const teamMemberOperations = {
  listTeamMembers: operation({
    section: '4.12',
    summary: 'Lists team members and pending invitations.',
    method: 'GET',
    path: '/team-members',
    success: 200,
    answer: part({ team_members: z.array(TeamMember), meta: PageMeta }, 'team_members'),
    errors: [400, 401, 403, 429],
    list: {
      key: 'team_members',
      filters: {
        name: text('contains'),
        email: text('contains'),
        company_name: text('contains'),
        role: field('role', oneOf(roles, 'eq')),
        two_fa_enabled: flag('eq'),
        status: field('status', oneOf(['connected', 'pending'], 'eq')),
        created_at: field('created_at', listTimestamp('gte', 'lte')),
        updated_at: field('updated_at', listTimestamp('gte', 'lte')),
      },
      sorts: ['created_at', 'updated_at', 'name', 'email', 'role'],
      defaultSort: 'created_at,desc',
      timezone: true,
      paged: true,
    },
  }),
  createTeamMember: operation({
    section: '4.12',
    summary: 'Invites a person to the team by email.',
    method: 'POST',
    path: '/team-members',
    body: z.strictObject({ team_member: z.strictObject({ email: nonBlank, ...fields }) }),
    bodyRequired: true,
    success: 201,
    answer: teamMember,
    errors: [400, 401, 403, 422, 429],
    effect: 'once',
  }),
  showTeamMember: operation({
    section: '4.12',
    summary: 'Shows a team member or an invitation.',
    method: 'GET',
    path: '/team-members/{team_member_id}',
    success: 200,
    answer: teamMember,
    errors: [401, 403, 404, 429],
  }),
  deleteTeamMember: operation({
    section: '4.12',
    summary: 'Removes a team member, or withdraws an invitation.',
    destructive: 'The person loses access to the account.',
    method: 'DELETE',
    path: '/team-members/{team_member_id}',
    success: 204,
    errors: [401, 403, 404, 429],
    effect: 'repeatable',
  }),
  // A pending invitation is replaced by a new one with a new id, so a second update has a second effect.
  updateTeamMember: operation({
    section: '4.12',
    summary: 'Changes a team member; a pending invitation is replaced and gets a new id.',
    method: 'POST',
    path: '/team-members/{team_member_id}/update',
    body: z.strictObject({ team_member: z.strictObject(fields) }),
    bodyRequired: true,
    success: 200,
    answer: teamMember,
    errors: [400, 401, 403, 404, 422, 429],
    effect: 'once',
    replaces,
  }),
  resendTeamMemberInvitation: operation({
    section: '4.12',
    summary: 'Sends a pending invitation again, under a new id.',
    method: 'POST',
    path: '/team-members/{team_member_id}/resend-invitation',
    success: 200,
    answer: teamMember,
    errors: [401, 403, 404, 422, 429],
    effect: 'once',
    replaces,
  }),
} as const;
