/** One product of a site, with its current and its available version. */
export type Update = {
  name: string;
  slug: string;
  filename: string;
  current_version: string;
  target_version: string;
};
