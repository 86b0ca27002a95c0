export interface ClientFields {
  first_name: string;
  last_name: string;
  email: string;
  company_name: string;
  address: string;
  note: string;
}

export interface Client {
  readonly id: string;
  fields: ClientFields;
  readonly siteIds: Set<string>;
  readonly createdAt: number;
  updatedAt: number;
}
