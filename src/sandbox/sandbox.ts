/** The entry point of the room: the Site Management Service in this process, served over real HTTP. */
import { type Clock, systemClock } from '../clock.ts';
import { openApiDocument } from '../contract/openapi.ts';
import type { OperationId } from '../contract/operations.ts';
import {
  controlMail,
  controlSchedule,
  controlSchedules,
  controlSite,
  controlStaging,
  controlStorage,
  type MailControl,
  type ScheduleControl,
  type SchedulesControl,
  type SiteControl,
  type StagingControl,
  type StorageControl,
} from './controls.ts';
import { answerChanger, createHiddenFields, type HiddenFields } from './faults/change-answer.ts';
import type { FaultRates } from './faults/names.ts';
import { chanceOf, createFaults, type FaultKind, type FaultMatch } from './faults.ts';
import { makeFleet } from './fleet.ts';
import { type AccountControl, openAccount } from './http/account.ts';
import { BASE_PATH, type FollowedRedirect, listen, openRedirects } from './http/server.ts';
import { type Journal, openJournal } from './journal.ts';
import type { PlanFeature } from './model/account.ts';
import type { TaskOrder } from './model/tasks.ts';
import type { World } from './model/world.ts';
import { startTask } from './resources/tasks.ts';
import { autosaveState, readState, resumedAt } from './state.ts';
import { randomFrom, seedOf } from './world/numbers.ts';
import { advance, openReplica } from './world/settle.ts';
import { serviceTime } from './world/time.ts';

export interface SandboxOptions {
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  /** The number of sites in the account; default 60. Below 20, none of them refuses a sync. */
  sites?: number;
  /** Default 1. The same seed and number of sites give the same account. */
  seed?: number;
  /** The bearer token that every request must have; default `sandbox-token`. */
  token?: string;
  /** How much faster than the clock the service's time runs; default 1. 60 makes an hour pass in a minute. */
  speed?: number;
  /** Requests per window; default 200, 0 = unlimited. */
  rateLimit?: number;
  /**
   * Length of the rate limit's window in milliseconds of the clock, independent of `speed`; default 60,000.
   */
  windowMs?: number;
  /** Default: the machine's clock. A test passes a held clock. */
  clock?: Clock;
  /** How far the service's own time is ahead of the clock, in milliseconds; default 0. Negative: behind. */
  clockOffsetMs?: number;
  /**
   * How far lists lag, in milliseconds of the service's time; default 0. They show a new or changed item that
   * much later, and a deleted one that much longer. The single view of an item is up to date.
   */
  listLagMs?: number;
  /** Whether answers have the service's own time in a `Date` header; default true. */
  dateHeader?: boolean;
  /** What the account's plan lacks; default: nothing. */
  planLacks?: readonly PlanFeature[];
  /** Random faults, each with its rate from 0 to 1; default none. `parseFaults` parses them from a text. */
  faults?: FaultRates;
  /**
   * A file that keeps the account across restarts; default none. If the file exists, `sites` and `seed` are
   * ignored, and the service's time has passed as fast as the clock since it was written. Written within a
   * second of a change, and when the sandbox stops.
   */
  state?: string;
  /** How many requests, and as many effects, the journal keeps; default 100,000. Its totals count all. */
  journal?: number;
}

export interface Sandbox {
  /** The base URL: `http://127.0.0.1:PORT/api/v6`. */
  readonly url: string;
  /** The token the sandbox was started with. */
  readonly token: string;
  readonly journal: Journal;
  /** @throws {Error} when there is no such site. */
  site(id: string): SiteControl;
  /** The ids of all sites, in order of creation. */
  siteIds(): string[];
  /** @throws {Error} when there is no such auto update schedule. */
  schedule(id: string): ScheduleControl;
  readonly schedules: SchedulesControl;
  /** Starts a background task of the service itself, which is not journaled; returns its id. */
  startTask(order: TaskOrder): string;
  readonly account: AccountControl;
  /** What tests can do to the external storage. */
  readonly storage: StorageControl;
  readonly staging: StagingControl;
  readonly mail: MailControl;
  /** A fault that affects every request until it ends. */
  readonly outage: { begin(kind: FaultKind): void; end(): void };
  /** A fault that affects the next requests of one operation. */
  failNext(match: FaultMatch, kind: FaultKind): void;
  /**
   * Removes these fields from all further answers of the operation. Paths start at the item: `sync`,
   * `email.recipients`. Returns a function that shows them again.
   *
   * @throws {Error} for a field that the operation does not answer, or that the contract needs.
   */
  readonly hide: HiddenFields['hide'];
  /** The requests that followed a redirect (faults `redirect` and `redirect-away`), in order. */
  readonly followedRedirects: readonly FollowedRedirect[];
  /** Closes open connections too. @throws {Error} when the state could not be written to its file. */
  stop(): Promise<void>;
}

/** Starts the service. It is listening when the promise resolves. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { host = '127.0.0.1', port = 0, sites = 60, seed = 1, token = 'sandbox-token' } = options;
  const { speed = 1, rateLimit = 200, windowMs = 60_000, clock = systemClock } = options;
  const { clockOffsetMs = 0, dateHeader = true, listLagMs = 0 } = options;

  const saved = options.state === undefined ? undefined : readState(options.state);
  const elapsing = serviceTime(clock, speed, saved && resumedAt(saved, clock.now()));
  const now = () => elapsing() + clockOffsetMs;
  const world = saved?.world ?? makeFleet({ sites, seed, now: now(), planLacks: options.planLacks ?? [] });
  const account = openAccount({ token, rateLimit, windowMs, clock });
  const journal = openJournal(options.journal ?? 100_000);
  const { faults: rates = {} } = options;
  const faults = createFaults(chanceOf(rates, seed, clock));
  const hidden = createHiddenFields();
  const change = answerChanger(hidden, randomFrom(seedOf(seed, 'changes')));
  const redirects = openRedirects();
  Object.assign(world.luck, {
    stuck: rates['stuck-tasks'] ?? 0,
    failing: rates['failing-tasks'] ?? 0,
    aborted: rates['aborted-tasks'] ?? 0,
    storageDown: rates['storage-down'] ?? 0,
  });
  const state = () => ({ world, serviceAt: elapsing(), clockAt: clock.now() });
  const autosave = autosaveState(options.state, clock, state);
  const noteEffect = (operation: OperationId, resource: string) => {
    journal.noteEffect({ at: clock.now(), operation, resource });
    autosave.changed();
  };
  const describe = () => openApiDocument(url);
  const replica = listLagMs > 0 ? openReplica(world, listLagMs) : undefined;
  const service = { world, replica, account, now, describe, noteEffect };
  const server = await listen({ service, faults, change, redirects, journal, clock, dateHeader }, host, port);
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${server.port}${BASE_PATH}`;

  /** The time of a change without the API, after bringing the world up to it. */
  const settled = () => {
    const at = now();
    advance(world, at);
    autosave.changed();
    return at;
  };
  /** Changes by tests are applied to the replica as well. */
  const control = <T extends Record<keyof T, (...args: never) => unknown>>(
    make: (in_: World, now: () => number) => T,
  ): T => {
    const controls = make(world, settled);
    if (!replica) return controls;
    const doubled = Object.keys(controls).map((name) => [
      name,
      (...args: never) => {
        const method = name as keyof T;
        const at = settled();
        const result = make(world, () => at)[method](...args);
        replica.repeat(at, (copy) => make(copy, () => at)[method](...args));
        return result;
      },
    ]);
    return Object.fromEntries(doubled) as T;
  };
  let refusing = false;
  const setRefusing = (refuse: boolean) => {
    if (refuse !== refusing) (refuse ? server.refuse : server.accept)();
    refusing = refuse;
  };
  return {
    url,
    token,
    journal,
    site: (id) => control((of, at) => controlSite(of, id, at)),
    siteIds: () => [...world.sites.keys()],
    schedule: (id) => control((of, at) => controlSchedule(of, id, at)),
    schedules: control(controlSchedules),
    account: account.control,
    storage: control(controlStorage),
    staging: control(controlStaging),
    mail: control(controlMail),
    outage: {
      begin(kind) {
        faults.begin(kind);
        setRefusing(kind === 'refuse');
      },
      end() {
        faults.end();
        setRefusing(false);
      },
    },
    startTask(order) {
      return control((of, at) => ({ start: () => startTask(of, order, at()).id })).start();
    },
    failNext: faults.failNext,
    hide: hidden.hide,
    followedRedirects: redirects.followed,
    async stop() {
      await server.stop();
      await redirects.stop();
      await autosave.stop();
    },
  };
}
