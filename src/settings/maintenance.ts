/** Freezes that recur (`maintenance`), as they are written and as they are used. */
import { z } from 'zod';
import { cron, timezone } from '../yaml/cron.ts';
import { duration } from '../yaml/duration.ts';

const MAX_MS = 7 * 86_400_000;
const part = z.optional(z.string().min(1).max(200));

export const MaintenanceRule = z
  .strictObject({
    cron: z.union([cron, z.array(cron).min(1)]).describe('When it begins: a cron expression, or several.'),
    for: duration(60_000).describe('How long it lasts each time, at most 7d.'),
    timezone: timezone.default('UTC').describe('The time zone of its times. Default UTC.'),
    account: part.describe('Only this account. Default all.'),
    policy: part.describe('Only the policies with this name, or of this pattern: nightly-*. Default all.'),
    client: part.describe('Only targets of this client, by id or name. Default all.'),
    tag: part.describe('Only targets with this tag, by id or name. Default all.'),
    reason: z.optional(z.string().min(1).max(200)).describe('Why, for people. Default its name.'),
  })
  .refine(({ for: ms }) => ms <= MAX_MS, { path: ['for'], error: 'must be at most 7d' })
  .refine(({ account, policy, client, tag }) => account ?? policy ?? client ?? tag, {
    error: 'needs an account, a policy, a client or a tag: what is frozen',
  });

export interface Maintenance {
  name: string;
  cron: readonly string[];
  timezone: string;
  forMs: number;
  scope: Partial<Record<'account' | 'policy' | 'client' | 'tag', string>>;
  reason?: string;
}
