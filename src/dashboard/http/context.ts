/** What handlers receive. */
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Access } from '../../access/access.ts';
import type { Principal } from '../../access/principal.ts';
import type { ControlDeps } from '../../control/commands.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import type { OidcSignIn } from '../auth/oidc.ts';
import type { FoundSession, Sessions, SessionsAwayError } from '../auth/sessions.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { LivePages } from '../events/live-reader.ts';
import type { Meters } from '../monitoring/meters.ts';
import type { DashboardOptions, SignIn } from '../options.ts';
import type { Reader } from '../queries/reader.ts';

type Given = Pick<
  DashboardOptions,
  | 'queues'
  | 'reasons'
  | 'policies'
  | 'health'
  | 'redisSilentMs'
  | 'accounts'
  | 'receivers'
  | 'budgetOf'
  | 'clock'
  | 'log'
>;

/** A plan that a person asked for on the page of a policy, in work or failed. */
export interface PlanInWork {
  at: number;
  by: string;
  /** Why it could not be made. */
  failed?: string;
}

/** What pages and JSON are made of. */
export interface PageContext extends Given {
  /** The address to listen on, from the settings. */
  host: string;
  port: number;
  url: string;
  /** Who may sign in, by the current settings. */
  access: () => Access;
  authenticator: Authenticator;
  oidc: OidcSignIn;
  /** The address at which people open it, when the settings have one. */
  publicUrl: string | undefined;
  /** The path of `publicUrl`, without a slash at the end. */
  basePath: string;
  sessions: Sessions;
  loginThrottle: LoginThrottle;
  reader: Reader;
  /** What the commands need that change something. */
  control: ControlDeps;
  meters: Meters;
  eventBus: EventBus;
  /** Called for each attempt to sign in. */
  onSignIn: (attempt: SignIn) => void;
  /** Aborts when the dashboard closes; live streams end then. */
  closing: AbortSignal;
}

export interface DashboardContext extends PageContext {
  /** The pages that readers have open. */
  livePages: LivePages;
  plansInWork: Map<string, PlanInWork>;
}

export type Env = {
  Bindings: HttpBindings;
  /** Who sent the request, and from where; `principalOf` and `addressOf` read them. */
  Variables: {
    principal?: Principal;
    address?: string;
    /** What the cookie names, also when it has ended. */
    session?: FoundSession;
    /** Redis was away, so it is not known who sent the request. */
    notKnown?: SessionsAwayError;
  };
};
export type Exchange = Context<Env>;
export type Handler = (c: Exchange, context: DashboardContext) => Response | Promise<Response>;
