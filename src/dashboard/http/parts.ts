/** What handlers work with. */
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Queues } from '../../queue/queues.ts';
import type { Door } from '../access/door.ts';
import type { Sessions } from '../access/sessions.ts';
import type { Tries } from '../access/tries.ts';
import type { News } from '../live/news.ts';
import type { Meters } from '../machines/meters.ts';
import type { Health } from '../options.ts';
import type { Reader } from '../reading/reader.ts';

export interface Parts {
  /** The address it listens on, as the settings have it. */
  host: string;
  port: number;
  url: string;
  door: Door;
  sessions: Sessions;
  tries: Tries;
  reader: Reader;
  queues: Queues;
  policies: () => readonly Policy[];
  health: () => Promise<Health>;
  meters: Meters;
  news: News;
  clock: Clock;
  log: Log;
  /** Aborts when the dashboard closes: what stays open ends itself then. */
  closing: AbortSignal;
}

export type Env = { Bindings: HttpBindings };
export type Exchange = Context<Env>;
export type Handler = (c: Exchange, parts: Parts) => Response | Promise<Response>;
