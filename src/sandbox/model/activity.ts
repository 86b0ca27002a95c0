export interface Happening {
  username: string;
  ipAddress: string;
  countryCode: string;
  objectType: string;
  eventType: string;
  details: Record<string, unknown>;
}

export interface ActivityEntry extends Happening {
  readonly id: string;
  readonly at: number;
}
