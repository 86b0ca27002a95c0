import { z } from 'zod';

/** A name of an account, a receiver of notifications, a policy, a user or a token. */
export const name = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    'must be a name of lowercase letters, digits and hyphens, up to 63 characters',
  );
