/**
 * Staging copies of sites (spec 2.16). Lists show `StagingSite`; the single view adds where it is and how to
 * get in.
 */
import { z } from 'zod';
import { id, int, known, part, timestamp } from '../schema.ts';

const shape = {
  id,
  site_id: id,
  status: known('initializing', 'active', 'paused', 'suspended'),
  url: z.string(),
  created_at: timestamp,
  updated_at: timestamp,
  expires_at: timestamp,
  php_version: z.string(),
  user: part({ name: z.string(), email: z.string() }),
};

/** A staging site as lists show it. */
export const StagingSite = part(shape, 'id');
export type StagingSite = z.output<typeof StagingSite>;

const account = { username: z.string(), password: z.string() };

/** A staging site as it is shown alone. `credentials` are secrets: never logged, never stored. */
export const StagingSiteDetails = part(
  {
    ...shape,
    snapshot: part({ id, created_at: timestamp }),
    credentials: part({
      http_auth: part(account),
      server: part({ protocol: z.string(), host: z.string(), port: int, ...account }),
      database: part({ host: z.string(), port: int, name: z.string(), ...account }),
    }),
  },
  'id',
);
export type StagingSiteDetails = z.output<typeof StagingSiteDetails>;
