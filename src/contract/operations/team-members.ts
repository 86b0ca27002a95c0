/** Team members and invitations (spec 4.12). */
import { z } from 'zod';
import { field, flag, listTimestamp, oneOf, text } from '../list.ts';
import { operationsOf } from '../operation.ts';
import { idOf, idSchema, known, nonBlank, part, timestamp } from '../schema.ts';
import { PageMeta, roles } from './shared.ts';

// Members of the account, and invitations that are not accepted yet (spec 2.14).

/** `id` changes while an invitation is pending: every update or resend replaces it. */
export const TeamMember = part(
  {
    id: idSchema,
    name: z.string(),
    email: z.string(),
    company_name: z.string(),
    note: z.string(),
    role: known(...roles),
    status: known('connected', 'pending'),
    all_sites_access: z.boolean(),
    site_ids: z.array(idSchema),
    two_fa_enabled: z.boolean(),
    created_at: timestamp,
    updated_at: timestamp,
  },
  'id',
);
export type TeamMember = z.output<typeof TeamMember>;

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

const operation = operationsOf('4.12');

export const teamMemberOperations = {
  listTeamMembers: operation({
    summary: 'Lists team members and pending invitations.',
    method: 'GET',
    path: '/team-members',
    answer: part({ team_members: z.array(TeamMember), meta: PageMeta }, 'team_members'),
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
    summary: 'Invites a person to the team by email.',
    method: 'POST',
    path: '/team-members',
    body: z.strictObject({ team_member: z.strictObject({ email: nonBlank, ...fields }) }),
    bodyRequired: true,
    success: 201,
    answer: teamMember,
    errors: [422],
    effect: 'once',
  }),
  showTeamMember: operation({
    summary: 'Shows a team member or an invitation.',
    method: 'GET',
    path: '/team-members/{team_member_id}',
    answer: teamMember,
  }),
  deleteTeamMember: operation({
    summary: 'Removes a team member, or withdraws an invitation.',
    destructive: 'The person loses access to the account.',
    method: 'DELETE',
    path: '/team-members/{team_member_id}',
    effect: 'repeatable',
  }),
  // A pending invitation is replaced by a new one with a new id, so a second update has a second effect.
  updateTeamMember: operation({
    summary: 'Changes a team member; a pending invitation is replaced and gets a new id.',
    method: 'POST',
    path: '/team-members/{team_member_id}/update',
    body: z.strictObject({ team_member: z.strictObject(fields) }),
    bodyRequired: true,
    answer: teamMember,
    errors: [422],
    effect: 'once',
    replaces,
  }),
  resendTeamMemberInvitation: operation({
    summary: 'Sends a pending invitation again, under a new id.',
    method: 'POST',
    path: '/team-members/{team_member_id}/resend-invitation',
    answer: teamMember,
    errors: [422],
    effect: 'once',
    replaces,
  }),
} as const;
