export interface Snapshot {
  readonly id: string;
  readonly number: number;
  readonly createdAt: number;
  status: 'in_progress' | 'succeeded' | 'failed' | 'cancelled';
  note: string | null;
  error: string | null;
  /** What the scan found; null while the sync runs, when it failed, and where nothing is scanned. */
  scanner: 'clean' | 'hacked' | null;
  filesSynced: number;
  tablesSynced: number;
}
