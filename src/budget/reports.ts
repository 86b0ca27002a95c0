/**
 * Sends the reports of answers to Redis. Those of one window that come while another one is on its way are sent as
 * one, because the script takes the smallest of their counts in any case.
 */
import type { Ticket, WindowReport } from './ticket.ts';

/** The report of an ordinary answer: from that of the answer before only its count differs, or nothing without one. */
type Ordinary =
  | Required<WindowReport>
  | { kind: 'answered'; limit?: never; remaining?: never; resetMs?: never };

interface Next {
  ticket: Ticket;
  report: Ordinary;
  at: number;
  /** Sends it, unless that was done. */
  start: () => Promise<void>;
  sent: Promise<void>;
}

interface OnItsWay {
  window: number;
  sent: Promise<void>;
  /** What is sent afterwards. */
  next?: Next;
}

type Send = (ticket: Ticket, report: WindowReport | undefined, at: number) => Promise<void>;

/** Reports of the same window differ by this much in its end at most, since they have whole seconds. */
const MAX_DIFFERENCE_MS = 1_000;

export class Reports {
  private onItsWay: OnItsWay | undefined;

  constructor(private readonly send: Send) {}

  /** Resolves when Redis has the report. `at`: when the answer came. */
  learn(ticket: Ticket, report: WindowReport | undefined, at: number): Promise<void> {
    const before = this.onItsWay;
    const next = before?.next;
    if (
      !isOrdinary(report) ||
      before?.window !== ticket.window ||
      (next && !isSameWindow(next, { report, at }))
    ) {
      // Reports arrive in the order of the answers: a failure must not be followed by an older answer.
      void next?.start();
      return isOrdinary(report) ? this.sendOrdinary(ticket, report, at) : this.send(ticket, report, at);
    }
    if (!next) return this.sendAfter(before, ticket, report, at);
    next.report = smaller(next.report, report);
    next.at = at;
    return next.sent;
  }

  private sendAfter(before: OnItsWay, ticket: Ticket, report: Ordinary, at: number): Promise<void> {
    let started: Promise<void> | undefined;
    const start = () => {
      started ??= this.sendOrdinary(next.ticket, next.report, next.at);
      return started;
    };
    const next: Next = { ticket, report, at, start, sent: before.sent.then(start, start) };
    before.next = next;
    return next.sent;
  }

  private sendOrdinary(ticket: Ticket, report: Ordinary, at: number): Promise<void> {
    const sent = this.send(ticket, report, at);
    const current: OnItsWay = { window: ticket.window, sent };
    this.onItsWay = current;
    const end = () => {
      if (this.onItsWay === current) this.onItsWay = undefined;
    };
    sent.then(end, end);
    return sent;
  }
}

/** A window that ends in 0 seconds shows how the service rounds, and a 429 that nothing is left: those are sent alone. */
function isOrdinary(report: WindowReport | undefined): report is Ordinary {
  if (report?.kind !== 'answered') return false;
  const { limit, remaining, resetMs } = report;
  const numbers = [limit, remaining, resetMs].filter((one) => one !== undefined);
  return numbers.length === 0 || (numbers.length === 3 && Number(resetMs) > 0);
}

/** The later one, with the smaller count of the two. */
const smaller = (before: Ordinary, report: Ordinary): Ordinary =>
  report.limit === undefined || before.limit === undefined
    ? report
    : { ...report, remaining: Math.min(report.remaining, before.remaining) };

function isSameWindow(one: Pick<Next, 'report' | 'at'>, other: Pick<Next, 'report' | 'at'>): boolean {
  if (one.report.limit !== other.report.limit) return false;
  const ends = ({ report, at }: Pick<Next, 'report' | 'at'>) => at + (report.resetMs ?? 0);
  return one.report.limit === undefined || Math.abs(ends(one) - ends(other)) <= MAX_DIFFERENCE_MS;
}
