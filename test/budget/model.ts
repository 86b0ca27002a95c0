/**
 * The decisions of the budget as pure functions: no Redis, no clock. `src/budget/scripts.ts` is the same in
 * Lua, with the same names; `scripts.test.ts` compares the two step by step. What they decide and why is in
 * docs/budget.md.
 */
import { classRules, type RequestClass, requestClasses, type WindowReport } from '../../src/budget/ticket.ts';

export const DEFAULT_LENGTH = 60_000;
export const SCOUT_TIMEOUT = 10_000;
const JUMP = 30_000;

export interface Settings {
  requestsPerMinute: number;
  reserve: number;
}

/** The window in progress, or the last one. */
export interface Window {
  number: number;
  remaining: number;
  resets: number;
  length: number;
  known: boolean;
  scoutUntil: number;
  ours: number;
}

/** Everything that is stored about an account. */
export interface State {
  window?: Window;
  limit?: number;
  rounding?: number;
  past?: { others: number; ended: number; processes: number; contiguous: boolean };
  fullLength?: number;
  /** When a class last asked for a request, and how many it was granted in all. */
  asked: Partial<Record<RequestClass, number>>;
  granted: Partial<Record<RequestClass, number>>;
  /** What was granted in each window, by class and by process. */
  usage: Record<
    number,
    { classes: Partial<Record<RequestClass, number>>; processes: Record<string, number> }
  >;
  failure?: { since: number; last: number; address: string };
}

export const nothing: State = { asked: {}, granted: {}, usage: {} };

export interface Request {
  requestClass: RequestClass;
  process: string;
  address: string;
}

export interface Reply {
  wait: number;
  retryAfter: number;
  window: number;
  processes: number;
  duringOutage: boolean;
}

type Changed = [State, Reply];

/** The state with every time as far back as the clock went, if it went back. */
export function takenBack(state: State, now: number): State {
  const ahead = Math.max(0, ...Object.values(state.asked)) - now;
  if (ahead <= JUMP) return state;
  const back = (at: number) => (at > 0 ? at - ahead : at);
  const { window, past, failure } = state;
  return {
    ...state,
    asked: Object.fromEntries(Object.entries(state.asked).map(([name, at]) => [name, back(at)])),
    ...(window && {
      window: { ...window, resets: back(window.resets), scoutUntil: back(window.scoutUntil) },
    }),
    ...(past && { past: { ...past, ended: back(past.ended) } }),
    ...(failure && { failure: { ...failure, since: back(failure.since), last: back(failure.last) } }),
  };
}

/** Grants a request, or returns how long to wait for one. */
export function take(before: State, settings: Settings, request: Request, now: number): Changed {
  const known = takenBack(before, now);
  const state = { ...known, asked: { ...known.asked, [request.requestClass]: now } };
  const { window } = state;
  if (!window || isOver(window, now)) {
    if (window && now < window.scoutUntil) return waitForScout(state, window.scoutUntil - now);
    const closed = window?.known ? closeWindow(state, window, settings, now) : state;
    return grant(openWindow(closed, settings, now), request);
  }
  const spendable = window.remaining - reserveOf(state, settings);
  if (spendable < 1) return wait(state, window.resets - now);
  const release = Math.max(
    msUntilReleased(state, window, settings, request.requestClass, now),
    msUntilUncapped(state, window, settings, request.requestClass, now),
  );
  if (release > 0) return wait(state, release);
  return grant({ ...state, window: { ...window, remaining: window.remaining - 1 } }, request);
}

/** How many requests a class may still send in this window, or in the next one if this one has ended. */
export function available(state: State, settings: Settings, requestClass: RequestClass, now: number): number {
  const reserve = reserveOf(state, settings);
  const { window } = state;
  if (!window || now >= window.resets) {
    const { bursty, predictable } = reservedForOthers(state, settings, requestClass, undefined, now);
    return Math.max(1, Math.floor(limitOf(state, settings) - reserve - bursty - predictable));
  }
  const { bursty, predictable } = reservedForOthers(state, settings, requestClass, window, now);
  const reservations = (bursty + predictable) * releaseRamp(window, now);
  return Math.floor(Math.max(0, window.remaining - reserve - reservations));
}

/** Corrects the window from the report of an answer. Without a report, the request showed nothing. */
export function learn(
  before: State,
  ticket: { window: number; address: string },
  report: WindowReport | undefined,
  now: number,
): State {
  const state = recordHealth(takenBack(before, now), ticket.address, report, now);
  const { window } = state;
  const isCurrent = window?.number === ticket.window;
  const hasNumbers = report?.remaining !== undefined && report.resetMs !== undefined;
  if (!report || (report.kind === 'failed' && !hasNumbers))
    return isCurrent && !window.known ? { ...state, window: { ...window, scoutUntil: 0 } } : state;
  const foundRounding = report.resetMs === 0 && !state.rounding;
  const rounding = foundRounding ? 1_000 : (state.rounding ?? 0);
  const ends = now + (report.resetMs ?? DEFAULT_LENGTH) + rounding;
  if (!window || !(isCurrent || isAboutThisWindow(window, report, ends))) return state;
  return {
    ...state,
    ...(report.limit === undefined ? {} : { limit: report.limit }),
    ...(foundRounding ? { rounding } : {}),
    ...lengths(state, window, report, ends - now),
    window: correctCount(window, report, ends, foundRounding, lengthOf(window, report, ends - now)),
  };
}

const limitOf = ({ limit }: State, { requestsPerMinute }: Settings) => limit ?? requestsPerMinute;
const reserveOf = (state: State, settings: Settings) =>
  Math.floor(limitOf(state, settings) * settings.reserve + 0.5);
const isOver = ({ known, resets }: Window, now: number) => now >= resets || !known;

const reply = ({ window, past }: State, wait: number, retryAfter: number): Reply => ({
  wait: Math.ceil(wait),
  retryAfter: Math.ceil(retryAfter),
  window: window?.number ?? 0,
  processes: past?.processes ?? 1,
  duringOutage: false,
});

const wait = (state: State, ms: number): Changed => [state, reply(state, ms, ms)];

const waitForScout = (state: State, scoutLeft: number): Changed => [
  state,
  reply(state, Math.min(scoutLeft, 40), Math.min(scoutLeft, 1_000)),
];

function grant(state: State, { requestClass, process, address }: Request): Changed {
  const { window } = state;
  if (!window) throw new Error('A request is granted in a window.');
  const { classes, processes } = state.usage[window.number] ?? { classes: {}, processes: {} };
  const granted: State = {
    ...state,
    window: { ...window, ours: window.ours + 1 },
    granted: oneMore(state.granted, requestClass),
    usage: {
      ...state.usage,
      [window.number]: {
        classes: oneMore(classes, requestClass),
        processes: oneMore(processes, process),
      },
    },
  };
  return [granted, { ...reply(granted, 0, 0), duringOutage: state.failure?.address === address }];
}

const oneMore = <Key extends string>(counts: Partial<Record<Key, number>>, key: Key) => ({
  ...counts,
  [key]: (counts[key] ?? 0) + 1,
});

/** Stores what is needed of the window that has ended. */
function closeWindow(state: State, window: Window, settings: Settings, now: number): State {
  const others = Math.max(0, limitOf(state, settings) - window.remaining - window.ours);
  const processes = Math.max(1, Object.keys(state.usage[window.number]?.processes ?? {}).length);
  const contiguous = now - window.resets < 2_000;
  return { ...state, past: { others, ended: window.resets, processes, contiguous } };
}

/** The request becomes the scout. A scout that replaces another one has the same window number. */
function openWindow(state: State, settings: Settings, now: number): State {
  const last = state.window;
  const isReplacement = last !== undefined && !last.known;
  return {
    ...state,
    window: {
      number: isReplacement ? last.number : (last?.number ?? 0) + 1,
      ours: isReplacement ? last.ours : 0,
      remaining: limitOf(state, settings) - 1,
      resets: now + DEFAULT_LENGTH,
      length: DEFAULT_LENGTH,
      known: false,
      scoutUntil: now + SCOUT_TIMEOUT,
    },
  };
}

/** How long until the reservations of the others leave a request for this class; 0 if they do now. */
function msUntilReleased(
  state: State,
  window: Window,
  settings: Settings,
  requestClass: RequestClass,
  now: number,
): number {
  const left = window.resets - now;
  const { bursty, predictable } = reservedForOthers(state, settings, requestClass, window, now);
  const reservations = bursty + predictable;
  const free = window.remaining - reserveOf(state, settings) - 1;
  if (free >= reservations * releaseRamp(window, now)) return 0;
  const { start, end } = rampOf(window);
  const byRamp = left - end - (free / reservations) * (start - end);
  const byTime = predictable > 0 && free > bursty ? left - ((free - bursty) / predictable) * left : left;
  return Math.max(1, Math.ceil(Math.min(byRamp, byTime, left)));
}

/** How long until a capped class gets another request; 0 if it does now. */
function msUntilUncapped(
  state: State,
  window: Window,
  settings: Settings,
  requestClass: RequestClass,
  now: number,
): number {
  const { share, capped } = classRules[requestClass];
  const left = window.resets - now;
  const { end } = rampOf(window);
  const isBusy = requestClasses.some(
    (other) =>
      other !== requestClass &&
      !classRules[other].bursty &&
      now - (state.asked[other] ?? 0) <= 2 * window.length,
  );
  if (!capped || !isBusy || left <= end) return 0;
  const used = state.usage[window.number]?.classes[requestClass] ?? 0;
  return used < share * (limitOf(state, settings) - reserveOf(state, settings)) ? 0 : left - end;
}

const rampOf = ({ length }: Window) => ({
  start: Math.max(length * 0.2, 3_000),
  end: Math.max(length * 0.03, 1_200),
});

/** The fraction of the reservations that applies: 1 until the ramp starts, 0 from its end on. */
function releaseRamp(window: Window, now: number): number {
  const { start, end } = rampOf(window);
  return Math.max(0, Math.min(1, (window.resets - now - end) / (start - end)));
}

/** What a class has to leave for the others: in `window`, or without one in the next one. */
function reservedForOthers(
  state: State,
  settings: Settings,
  requestClass: RequestClass,
  window: Window | undefined,
  now: number,
): { bursty: number; predictable: number } {
  const sums = { bursty: 0, predictable: 0 };
  const own = requestClasses.indexOf(requestClass);
  for (const [index, other] of requestClasses.entries()) {
    if (index === own) continue;
    const part = classRules[other].bursty ? 'bursty' : 'predictable';
    sums[part] += reservedFor(state, settings, other, index < own, window, now);
  }
  return { bursty: Math.floor(sums.bursty), predictable: Math.floor(sums.predictable) };
}

/** What is reserved for another class. */
function reservedFor(
  state: State,
  settings: Settings,
  other: RequestClass,
  isMoreUrgent: boolean,
  window: Window | undefined,
  now: number,
): number {
  const { share, bursty } = classRules[other];
  const length = state.window?.length ?? DEFAULT_LENGTH;
  const isRecent = now - (state.asked[other] ?? 0) <= 2 * length;
  if (!isMoreUrgent && !isRecent) return 0;
  const spendable = limitOf(state, settings) - reserveOf(state, settings);
  const guaranteed = isMoreUrgent && isRecent ? share * spendable : (share * spendable) / 2;
  const usedIn = (number: number) => state.usage[number]?.classes[other] ?? 0;
  const unused = Math.max(0, guaranteed - (window ? usedIn(window.number) : 0));
  if (bursty) return unused;
  const usedBefore = usedIn(window ? window.number - 1 : (state.window?.number ?? 0));
  const timeLeft = window ? (window.resets - now) / window.length : 1;
  return Math.min(unused, usedBefore > 0 ? 1 + usedBefore * 1.5 * timeLeft : guaranteed * timeLeft);
}

/** Records since when no request got a usable answer at this address. */
function recordHealth(state: State, address: string, report: WindowReport | undefined, now: number): State {
  if (!report) return state;
  const { failure, ...healthy } = state;
  if (report.kind !== 'failed') return healthy;
  const since = failure?.address === address ? failure.since : now;
  return { ...healthy, failure: { since, last: now, address } };
}

/** Whether the answer to a request of an earlier window clearly reports this one. */
const isAboutThisWindow = ({ known, resets, length }: Window, { resetMs }: WindowReport, ends: number) =>
  known && resetMs !== undefined && Math.abs(ends - resets) <= length / 2;

const lengthOf = (window: Window, { resetMs }: WindowReport, left: number): number =>
  window.known || resetMs === undefined ? window.length : Math.max(left, 1_000);

/** The length of a whole window. Only a window that began when the previous one ended shows it. */
const lengths = (state: State, window: Window, report: WindowReport, left: number) =>
  window.known || report.resetMs === undefined || !state.past?.contiguous
    ? {}
    : { fullLength: lengthOf(window, report, left) };

function correctCount(
  window: Window,
  { kind, remaining, resetMs }: WindowReport,
  ends: number,
  foundRounding: boolean,
  length: number,
): Window {
  const tolerance = window.length / 2;
  const seen = { ...window, length, known: true, scoutUntil: 0 };
  if (kind === 'limited') return { ...seen, remaining: 0, resets: ends };
  if (remaining === undefined || resetMs === undefined) return seen;
  if (!window.known || ends > window.resets + tolerance) return { ...seen, remaining, resets: ends };
  if (ends < window.resets - tolerance) return window;
  return {
    ...window,
    remaining: Math.min(window.remaining, remaining),
    resets: foundRounding ? ends : Math.min(window.resets, ends),
  };
}
