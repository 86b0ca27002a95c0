/**
 * The conditions of service and network while processes are killed. The service is always flaky in addition.
 */
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';

export interface Conditions {
  /** Faults in addition to the usual ones, by name. */
  faults?: string;
  /** Connections between daemons and the service are cut at random bytes. */
  cuts?: true;
  /** Beside the kills of the primary of Redis, its standby takes over, or open connections to it fall silent. */
  redis?: 'failover' | 'silence';
  /** Daemons are killed while a script about their targets is on its way, or before it is answered. */
  midScript?: true;
  /** The clock of all processes jumps, but not that of the service. */
  jumps?: true;
  /** One of the daemons is that of an older commit. */
  older?: true;
  /** Stories whose times are checked exactly; or whose runs wait for the next when fields are absent. */
  without?: readonly string[];
  service?: Pick<SandboxOptions, 'clockOffsetMs' | 'listLagMs'>;
}

const MINUTE = 60_000;
const untidy =
  'absent-fields:0.1,other-timestamps:0.3,numbers-as-text:0.1,redirect:0.01,redirect-away:0.01,html-400:0.01,html-errors:0.3';

export const conditions = {
  flaky: {},
  cut: { cuts: true },
  untidy: { without: ['chaos-rings'], faults: untidy },
  behind: { service: { clockOffsetMs: -7 * MINUTE } },
  ahead: { service: { clockOffsetMs: 7 * MINUTE } },
  /** Answers that are lost, slow or refused with 429, and other clients that use up the budget. */
  busy: { faults: 'busy,reset-after:0.15,error-after:0.1,slow:0.15' },
  late: { service: { listLagMs: 3_000 } },
  failover: { redis: 'failover' },
  'half-open': { redis: 'silence' },
  'mid-script': { midScript: true },
  jumps: {
    jumps: true,
    without: ['chaos-rollout', 'chaos-grace', 'chaos-chain', 'chaos-announce', 'chaos-rings'],
  },
  older: { older: true },
  'all-behind': {
    cuts: true,
    without: ['chaos-rings'],
    faults: untidy,
    service: { clockOffsetMs: -7 * MINUTE, listLagMs: 3_000 },
  },
  'all-ahead': {
    cuts: true,
    without: ['chaos-rings'],
    faults: untidy,
    service: { clockOffsetMs: 7 * MINUTE, listLagMs: 3_000 },
  },
} as const satisfies Record<string, Conditions>;

export type ConditionsName = keyof typeof conditions;
