/** What handlers work with. */
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
  /** The address it listens on, as the settings have it. */
  host: string;
  port: number;
  url: string;
  authenticator: Authenticator;
  sessions: Sessions;
  loginThrottle: LoginThrottle;
  reader: Reader;
  /** Pauses and resumes a policy; the one thing that is changed in the records without the engine. */
  pausing: Pausing;
  meters: Meters;
  eventBus: EventBus;
  /** Aborts when the dashboard closes: what stays open ends itself then. */
  closing: AbortSignal;
}

export interface Pausing {
  /**
   * Until it is resumed, or, where `until` is given, until then. The reason of an earlier pause stays when
   * none is given.
   */
  pause(policy: string, why: { reason?: string; until?: number }): Promise<void>;
  /** False when it was not paused. */
  resume(policy: string): Promise<boolean>;
}

export type Env = { Bindings: HttpBindings };
export type Exchange = Context<Env>;
export type Handler = (c: Exchange, context: DashboardContext) => Response | Promise<Response>;
