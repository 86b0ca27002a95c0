/** The views of a staging copy: in lists, and alone with address and credentials (spec 2.16). */
import type {
  StagingSite as ShownStaging,
  StagingSiteDetails,
} from '../../contract/resources/staging-site.ts';
import type { StagingSite } from '../model/site.ts';
import { seedOf } from '../world/random.ts';
import { shown } from './account.ts';

export const stagingView = (staging: StagingSite): ShownStaging => ({
  id: staging.id,
  site_id: staging.siteId,
  status: staging.status,
  url: staging.url,
  created_at: shown(staging.createdAt),
  updated_at: shown(staging.updatedAt),
  expires_at: shown(staging.expiresAt),
  php_version: staging.phpVersion,
  user: { ...staging.user },
});

/** Its passwords are invented, derived from its id. */
export const stagingDetails = (staging: StagingSite): StagingSiteDetails => {
  const host = new URL(staging.url).host;
  const password = (what: string) => `staging-${seedOf(staging.number, what).toString(36)}`;
  const username = `stage${staging.number}`;
  return {
    ...stagingView(staging),
    snapshot: { id: staging.snapshot.id, created_at: shown(staging.snapshot.createdAt) },
    credentials: {
      http_auth: { username, password: password('http') },
      server: { protocol: 'sftp', host, port: 2222, username, password: password('server') },
      database: { host, port: 3306, name: username, username, password: password('database') },
    },
  };
};
