import { type Logger, pino } from 'pino';
import { redact, scrub } from './secrets.ts';
import { visible, visibleLine } from './text.ts';

interface Write {
  (facts: object, message?: string): void;
  (message: string): void;
}
/** The log of all rooms. Secrets are removed from every line. */
export interface Log {
  debug: Write;
  info: Write;
  warn: Write;
  error: Write;
  child(facts: object): Log;
}

/** `pretty` is for a person at a terminal, `json` for log collectors. */
export interface LogOptions {
  level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  form: 'pretty' | 'json';
  /** A descriptor of the system, or a stream. Default: standard error. */
  to?: number | NodeJS.WritableStream;
}

/** Opens a log, by default on standard error: standard output is for data. */
export async function openLog({ level, form, to = 2 }: LogOptions): Promise<Log> {
  const options = {
    level,
    base: { pid: process.pid },
    // `describe` serializes errors, with their codes and causes.
    serializers: { err: (error: unknown) => error },
    hooks: {
      logMethod(this: Logger, args: Parameters<Logger['info']>, method: (...args: never[]) => void) {
        method.apply(this, args.map(cleaned) as never[]);
      },
    },
  };
  if (form === 'json') return guarded(pino(options, typeof to === 'number' ? destination(to) : to));
  // In this process rather than in a worker thread, so that a line is printed before the next statement runs.
  const { PinoPretty } = await import('pino-pretty');
  return guarded(
    pino(
      options,
      PinoPretty({ destination: to, sync: true, ignore: 'pid,hostname', translateTime: 'HH:MM:ss' }),
    ),
  );
}

/** Of lines that cannot be written. */
const MAX_KEPT_BYTES = 1024 * 1024;

/** While its disk is full, the first lines are kept until there is room: no work fails because it cannot be logged. */
function destination(dest: number) {
  const stream = pino.destination({ dest, sync: true, maxLength: MAX_KEPT_BYTES });
  // Without a listener, the call that logs a line throws.
  stream.on('error', () => undefined);
  // A dropped line writes nothing: without this, none would be written any more.
  stream.on('drop', () => stream.write(''));
  return stream;
}

/**
 * A logger with the methods of `Log` only. The fields of a child are cleaned here, because pino's hooks do
 * not see them.
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

/** A text without secrets on one line, so that no text can forge a log line. */
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

/** Further causes are omitted. A chain that long is probably circular. */
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
