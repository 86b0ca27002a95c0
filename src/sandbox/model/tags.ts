export interface Tag {
  readonly id: string;
  name: string;
  color: string | null;
  readonly siteIds: Set<string>;
  readonly createdAt: number;
  updatedAt: number;
}
