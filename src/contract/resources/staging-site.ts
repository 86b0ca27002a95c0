/**
 * Staging copies of sites (spec 2.16). Lists have `StagingSite`; the single view adds address and
 * credentials.
 */
import { z } from 'zod';
import { idSchema, int, known, part, timestamp } from '../schema.ts';

const shape = {
  id: idSchema,
  site_id: idSchema,
  status: known('initializing', 'active', 'paused', 'suspended'),
  url: z.string(),
  created_at: timestamp,
  updated_at: timestamp,
  expires_at: timestamp,
  php_version: z.string(),
  user: part({ name: z.string(), email: z.string() }),
};

/** A staging site in lists. */
export const StagingSite = part(shape, 'id');
export type StagingSite = z.output<typeof StagingSite>;

const account = { username: z.string(), password: z.string() };

/** The single view of a staging site. `credentials` are secrets: never log or store them. */
export const StagingSiteDetails = part(
  {
    ...shape,
    snapshot: part({ id: idSchema, created_at: timestamp }),
    credentials: part({
      http_auth: part(account),
      server: part({ protocol: z.string(), host: z.string(), port: int, ...account }),
      database: part({ host: z.string(), port: int, name: z.string(), ...account }),
    }),
  },
  'id',
);
export type StagingSiteDetails = z.output<typeof StagingSiteDetails>;
