/** What handlers receive. */
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Authenticator } from '../auth/authenticator.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { Meters } from '../monitoring/meters.ts';
import type { DashboardOptions } from '../options.ts';
import type { Reader } from '../queries/reader.ts';

type Given = Pick<
  DashboardOptions,
  'queues' | 'engine' | 'reasons' | 'policies' | 'health' | 'accounts' | 'needAccount' | 'clock' | 'log'
>;

export interface DashboardContext extends Given {
  /** The address to listen on, from the settings. */
  host: string;
  port: number;
  url: string;
  authenticator: Authenticator;
  sessions: Sessions;
  loginThrottle: LoginThrottle;
  reader: Reader;
  /** Pauses and resumes a policy; the only change to the records that bypasses the engine. */
  pausing: Pausing;
  meters: Meters;
  eventBus: EventBus;
  /** Aborts when the dashboard closes; live streams end then. */
  closing: AbortSignal;
}

export interface Pausing {
  /**
   * Pauses until `until`, or else until the policy is resumed. Without a new reason, that of an earlier pause
   * stays.
   */
  pause(policy: string, why: { reason?: string; until?: number }): Promise<void>;
  /** False when it was not paused. */
  resume(policy: string): Promise<boolean>;
}

export type Env = { Bindings: HttpBindings };
export type Exchange = Context<Env>;
export type Handler = (c: Exchange, context: DashboardContext) => Response | Promise<Response>;
