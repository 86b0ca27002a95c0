export interface Snapshot {
  readonly id: string;
  readonly number: number;
  readonly createdAt: number;
  status: 'in_progress' | 'succeeded' | 'failed' | 'cancelled';
  note: string | null;
  error: string | null;
  /** The result of the scan; null while the sync runs, when it failed, and when scanning is off. */
  scanner: 'clean' | 'hacked' | null;
  filesSynced: number;
  tablesSynced: number;
}
