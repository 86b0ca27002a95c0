export interface DnsRecord {
  hostname: string;
  value: string;
  verified: boolean;
  /** When it is published and accepted, whether or not it was checked; null = never. */
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
  /** How often DKIM was rotated. Each rotation gives a new key. */
  rotations: number;
  readonly createdAt: number;
  updatedAt: number;
}
