/** Team members and invitations, which are pending members (spec 2.14). */

import type { MemberFields, TeamMember } from '../model/account.ts';
import type { World } from '../model/world.ts';
import { idOf, nextNumber } from './ids.ts';
import { DAY } from './service-time.ts';

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
