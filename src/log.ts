import { type Logger, pino } from 'pino';
import { redact, scrub } from './secrets.ts';
import { visible, visibleLine } from './text.ts';

interface Write {
  (facts: object, message?: string): void;
  (message: string): void;
}
/** What rooms write to. Every line has passed the redaction list. */
export interface Log {
  debug: Write;
  info: Write;
  warn: Write;
  error: Write;
  child(facts: object): Log;
}

/**
 * `pretty` is for a person at a terminal, `json` for everything that collects logs. Both go to standard
 * error.
 */
export interface LogOptions {
  level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  form: 'pretty' | 'json';
}

/** Opens the process's log on standard error: standard output is for data. */
export async function openLog({ level, form }: LogOptions): Promise<Log> {
  const options = {
    level,
    base: { pid: process.pid },
    // Errors are described below, with their code and their causes apart.
    serializers: { err: (told: unknown) => told },
    hooks: {
      logMethod(this: Logger, args: Parameters<Logger['info']>, method: (...args: never[]) => void) {
        method.apply(this, args.map(cleaned) as never[]);
      },
    },
  };
  if (form === 'json') return guarded(pino(options, pino.destination({ dest: 2, sync: true })));
  // In process rather than as a worker thread: a line is on the terminal before the next statement runs.
  const { PinoPretty } = await import('pino-pretty');
  return guarded(
    pino(
      options,
      PinoPretty({ destination: 2, sync: true, ignore: 'pid,hostname', translateTime: 'HH:MM:ss' }),
    ),
  );
}

/**
 * The logger with nothing but what `Log` has; what all lines of a child have in common passes no hook of
 * pino's.
 */
function guarded(logger: Logger): Log {
  return {
    debug: logger.debug.bind(logger),
    info: logger.info.bind(logger),
    warn: logger.warn.bind(logger),
    error: logger.error.bind(logger),
    child: (facts) => guarded(logger.child(shown(facts) as object)),
  };
}

/** A text without secrets on one line, so that nobody else writes a line into the log. */
const line = (text: string): string => visibleLine(scrub(text));
const shown = (value: unknown): unknown => redact(value, line);

function cleaned(argument: unknown): unknown {
  if (argument instanceof Error) return { err: describe(argument) };
  if (
    argument !== null &&
    typeof argument === 'object' &&
    'err' in argument &&
    argument.err instanceof Error
  ) {
    return { ...(shown({ ...argument, err: undefined }) as object), err: describe(argument.err) };
  }
  return shown(argument);
}

/** Causes further down are left out; a chain that long holds itself. */
const MAX_CAUSES = 5;

function describe(error: Error, causes = MAX_CAUSES): object {
  const code = (error as { code?: unknown }).code;
  return {
    type: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    message: line(error.message),
    stack: visible(scrub(error.stack ?? ''), '\n'),
    ...(error.cause instanceof Error && causes > 0 ? { cause: describe(error.cause, causes - 1) } : {}),
  };
}
