/** One product of a site with the version it has and the one it could have. */
export type Update = {
  name: string;
  slug: string;
  filename: string;
  current_version: string;
  target_version: string;
};
