/** Exit codes, and what a person reads about an error. */
import { CaretakerError, messageOf } from '../errors.ts';
import { writeRefusal } from '../redis/refusal.ts';
import { InvalidFilesError, renderFindings } from '../yaml/diagnostic.ts';
import type { Terminal } from './output/terminal.ts';

export const exit = {
  /** The command did what was asked. */
  ok: 0,
  /** A run ended `partial`, `failed`, `stopped` or `cancelled`, or the command could not do its work. */
  notAllWell: 1,
  /** Bad usage, config or policy. */
  badInput: 2,
  /** Redis or the API cannot be reached, or the account denies access. */
  unreachable: 3,
  /** Interrupted by Ctrl-C: 128 + SIGINT. */
  interrupted: 130,
} as const;

/** Wrong usage that commander cannot detect. */
export class UsageError extends CaretakerError {
  readonly code = 'USAGE';
}

const codes: Record<string, number> = {
  USAGE: exit.badInput,
  INVALID_FILES: exit.badInput,
  NO_CONFIG: exit.badInput,
  INVALID_INPUT: exit.badInput,
  ACCOUNT_NOT_SET_UP: exit.badInput,
  RUN: exit.badInput,
  BACKFILL: exit.badInput,
  DASHBOARD: exit.badInput,
  DAEMON_RUNS: exit.badInput,
  INVALID_EXPRESSION: exit.badInput,
  FOLDER_UNWRITABLE: exit.badInput,
  INVENTORY: exit.badInput,
  NOT_IN_INVENTORY: exit.badInput,
  REDIS_UNREACHABLE: exit.unreachable,
  REDIS_REFUSES: exit.unreachable,
  NEWER_RECORDS: exit.unreachable,
  OLDER_PROCESSES: exit.unreachable,
  REDIS_MISSING: exit.unreachable,
  REDIS_NOT_STARTED: exit.unreachable,
  DATA_FOLDER_UNUSABLE: exit.unreachable,
  DATA_FOLDER_BUSY: exit.unreachable,
  UNAVAILABLE: exit.unreachable,
  NOT_THE_SERVICE: exit.unreachable,
  ACCOUNT_REFUSED: exit.unreachable,
  REDIRECTED: exit.unreachable,
};

/**
 * Prints an error and returns the exit code: for invalid files each finding, else one sentence that ends with
 * the code of the error, by which docs/errors.md is sorted. Wrong usage needs no code: the sentence is enough.
 */
export function explain(error: unknown, terminal: Terminal): number {
  const { paint, message } = terminal;
  const printError = (sentence: string, code: string) => {
    const shownCode = code === 'USAGE' ? '' : ` ${paint('dim', `[${code}]`)}`;
    const [first, ...more] = sentence.split('\n');
    message([`${paint('red', 'error')}: ${first}${shownCode}`, ...more].join('\n'));
  };
  if (error instanceof InvalidFilesError) {
    message(renderFindings(error.findings, { color: terminal.paint, columns: terminal.messageColumns }));
    return exit.badInput;
  }
  if (error instanceof CaretakerError) {
    printError(error.message, error.code);
    return codes[error.code] ?? exit.notAllWell;
  }
  const refusal = writeRefusal(error);
  if (refusal !== undefined) {
    printError(`${refusal[0]?.toUpperCase()}${refusal.slice(1)}.`, 'REDIS_REFUSES');
    return exit.unreachable;
  }
  message(`${paint('red', 'error')}: Caretaker itself failed: ${messageOf(error)}`);
  if (process.env['CARETAKER_DEBUG'] && error instanceof Error) message(error.stack ?? '');
  else message('Set CARETAKER_DEBUG=1 to see where. This is a bug in Caretaker; please report it.');
  return exit.notAllWell;
}
