export type MailStatus = 'sent' | 'delivered' | 'opened' | 'failed' | 'bounced' | 'spam';

export interface Mail {
  email: string;
  status: MailStatus;
  sentAt: number;
  deliveredAt: number | null;
  openedAt: number | null;
}
