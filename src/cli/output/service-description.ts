/** Compares the `/openapi.json` of the service with the contract, and its clock with that of this machine. */
import { request } from 'undici';
import type { Budget } from '../../budget/budget.ts';
import type { WindowReport } from '../../budget/ticket.ts';
import { type OperationId, operationOf, operations } from '../../contract/operations.ts';
import { SANDBOX_SERVER } from '../../contract/service-address.ts';
import { messageOf } from '../../errors.ts';
import type { Account } from '../../settings/settings.ts';
import { formatDuration } from '../../yaml/duration.ts';

/** One check of `doctor`. */
export interface Check {
  what: string;
  state: 'ok' | 'warning' | 'wrong';
  message: string;
  /** The exit code when the state is `wrong`. */
  code?: number;
}

/** The maximum clock difference that is not reported. With more, timestamps are unreliable. */
const MAX_SKEW_MS = 30_000;
const MAX_BYTES = 10 * 1024 * 1024;

/** Compares clocks and contract. Costs one request. */
export async function checkDescription(account: Account, budget: Budget): Promise<Check[]> {
  const ticket = await budget.take('person');
  let report: WindowReport = { kind: 'failed' };
  try {
    const before = Date.now();
    const { statusCode, headers, body } = await request(`${account.baseUrl}/openapi.json`, {
      headers: { authorization: `Bearer ${account.token}`, accept: 'application/json' },
      headersTimeout: 10_000,
      bodyTimeout: 10_000,
    });
    if (statusCode < 500) report = { kind: 'answered' };
    const text = await body.text();
    const now = (before + Date.now()) / 2;
    const isSandbox = headers['server'] === SANDBOX_SERVER;
    const clock = checkClock(String(headers['date'] ?? ''), now, isSandbox);
    if (statusCode !== 200 || text.length > MAX_BYTES) {
      return [
        clock,
        {
          what: 'contract',
          state: 'warning',
          message: `the API description (openapi.json) cannot be read (HTTP ${statusCode})`,
        },
      ];
    }
    return [clock, checkContract(JSON.parse(text))];
  } catch (error) {
    return [
      {
        what: 'contract',
        state: 'warning',
        message: `the API description (openapi.json) cannot be read: ${messageOf(error)}`,
      },
    ];
  } finally {
    await budget.learn(ticket, report);
  }
}

function checkClock(date: string, now: number, isSandbox: boolean): Check {
  const theirs = Date.parse(date);
  if (Number.isNaN(theirs))
    return { what: 'clock', state: 'warning', message: 'the service does not report its time' };
  const skew = now - theirs;
  // The header is accurate to one second.
  const seconds = Math.round(Math.max(0, Math.abs(skew) - 1_000) / 1_000);
  if (seconds * 1_000 <= MAX_SKEW_MS)
    return { what: 'clock', state: 'ok', message: `within ${seconds + 1} s of the clock of the service` };
  if (isSandbox && skew < 0)
    return {
      what: 'clock',
      state: 'ok',
      message: 'that of the sandbox is ahead: with --speed its time passes faster',
    };
  return {
    what: 'clock',
    state: 'warning',
    message: `${seconds < 120 ? `${seconds} s` : formatDuration(Math.round(seconds / 60) * 60_000)} ${skew > 0 ? 'ahead of' : 'behind'} the clock of the service: correct the clock of this machine`,
  };
}

function checkContract(described: unknown): Check {
  const theirs = new Set(
    Object.entries((described as { paths?: Record<string, Record<string, unknown>> }).paths ?? {}).flatMap(
      ([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    ),
  );
  const ours = (Object.keys(operations) as OperationId[])
    .map(operationOf)
    .map(({ method, path }) => `${method} ${path}`);
  const lost = ours.filter((one) => !theirs.has(one));
  const added = [...theirs].filter((one) => !ours.includes(one));
  if (lost.length === 0 && added.length === 0)
    return { what: 'contract', state: 'ok', message: `all ${ours.length} operations` };
  const parts = [
    ...(lost.length > 0 ? [`the service no longer describes ${some(lost)}`] : []),
    ...(added.length > 0
      ? [`it describes ${some(added)}, which this version of Caretaker does not know`]
      : []),
  ];
  return { what: 'contract', state: 'warning', message: parts.join('; ') };
}

const some = (all: readonly string[]): string =>
  all.length > 3 ? `${all.slice(0, 3).join(', ')} and ${all.length - 3} more` : all.join(', ');
