export interface DnsRecord {
  hostname: string;
  value: string;
  verified: boolean;
  /** Since when it is published and accepted, whether or not anybody has looked; null = it never will be. */
  publishedAt: number | null;
}

export interface SenderEmail {
  readonly id: string;
  readonly email: string;
  name: string;
  status: 'pending' | 'verified';
  /** When the owner confirms; null = never. */
  confirmsAt: number | null;
  dkim: DnsRecord;
  returnPath: DnsRecord;
  /** How often DKIM was rotated: each time there is another key. */
  rotations: number;
  readonly createdAt: number;
  updatedAt: number;
}
