import type { Log } from '../../src/log.ts';

/** A log that keeps its lines for a test, and prints them only when `CARETAKER_TEST_LOG` is set. */
export function keptLog(): Log & { lines: string[] } {
  const lines: string[] = [];
  const write = (level: string) => (facts: object | string, message?: string) => {
    const line = typeof facts === 'string' ? facts : `${message ?? ''} ${JSON.stringify(facts, withErrors)}`;
    lines.push(`${level} ${line}`);
    if (process.env['CARETAKER_TEST_LOG']) process.stderr.write(`${level} ${line}\n`);
  };
  const log = {
    lines,
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: () => log,
  };
  return log;
}

const withErrors = (_key: string, value: unknown) =>
  value instanceof Error ? { message: value.message, stack: value.stack } : value;
