/**
 * What happens in Caretaker, told to whoever listens, in this process or another on the same Redis.
 *
 * Events are news, not the record: one that is missed is found in the records. Moments are milliseconds since 1970.
 */
export type CaretakerEvent =
  | { type: 'run.moved'; run: string; policy: string; status: string; at: number }
  | { type: 'target.ended'; run: string; target: string; outcome: string; reason: string; at: number }
  | { type: 'policy.changed'; policy: string; at: number }
  | { type: 'freeze.changed'; at: number };
