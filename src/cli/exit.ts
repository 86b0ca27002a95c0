/** Exit codes, and what a person reads about an error. */
import { CaretakerError, messageOf } from '../errors.ts';
import { commandRefusal, writeRefusal } from '../redis/refusal.ts';
import { InvalidFilesError, renderFindings } from '../yaml/diagnostic.ts';
import type { Terminal } from './output/terminal.ts';

export const exit = {
  /** The command did what was asked. */
  ok: 0,
  /** A run ended `partial`, `failed`, `stopped` or `cancelled`, or the command could not do its work. */
  notAllWell: 1,
  /** Wrong usage, or errors in the configuration or a policy. */
  badInput: 2,
  /** Redis or the API cannot be reached, or the account refuses access. */
  unreachable: 3,
  /** Interrupted by Ctrl-C: 128 + SIGINT. */
  interrupted: 130,
} as const;

/** Wrong usage that commander cannot detect. */
export class UsageError extends CaretakerError {
  readonly code = 'USAGE';
}

/** Ctrl-C at a question. The message says, in one line, what was not done. */
export class InterruptedError extends CaretakerError {
  readonly code = 'INTERRUPTED';
}

const codes: Record<string, number> = {
  USAGE: exit.badInput,
  INVALID_FILES: exit.badInput,
  NO_CONFIG: exit.badInput,
  INTERRUPTED: exit.interrupted,
  INVALID_INPUT: exit.badInput,
  ACCOUNT_NOT_SET_UP: exit.badInput,
  ACCOUNT_MOVED: exit.badInput,
  RUN: exit.badInput,
  APPROVAL: exit.badInput,
  ROLLOUT: exit.badInput,
  INVALID_REQUEST: exit.badInput,
  NOT_FOUND: exit.badInput,
  SERVER: exit.unreachable,
  SIGN_IN: exit.unreachable,
  SAVED_PLAN: exit.badInput,
  ALREADY_APPLIED: exit.badInput,
  BACKFILL: exit.badInput,
  BACKUP: exit.badInput,
  DASHBOARD: exit.badInput,
  DAEMON_RUNS: exit.badInput,
  INVALID_EXPRESSION: exit.badInput,
  UNKNOWN_NAME: exit.badInput,
  UNKNOWN_REFERENCE: exit.badInput,
  FOLDER_UNWRITABLE: exit.badInput,
  INVENTORY: exit.badInput,
  NOT_IN_INVENTORY: exit.badInput,
  REDIS_UNREACHABLE: exit.unreachable,
  REDIS_REFUSES: exit.unreachable,
  REDIS_TOO_OLD: exit.unreachable,
  NEWER_RECORDS: exit.unreachable,
  OLDER_PROCESSES: exit.unreachable,
  INCOMPLETE_RESTORE: exit.unreachable,
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
 * Prints an error and returns the exit code. For invalid files, prints each finding. For other errors, prints
 * one sentence and the error code, which docs/errors.md explains. Usage errors have no code: the sentence is
 * enough.
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
  if (error instanceof InterruptedError) {
    message(error.message);
    return exit.interrupted;
  }
  if (error instanceof CaretakerError) {
    printError(error.message, error.code);
    return codes[error.code] ?? exit.notAllWell;
  }
  const command = commandRefusal(error);
  const refusal = command === undefined ? writeRefusal(error) : `Redis refuses: ${command}`;
  if (refusal !== undefined) {
    printError(`${refusal[0]?.toUpperCase()}${refusal.slice(1)}.`, 'REDIS_REFUSES');
    return exit.unreachable;
  }
  message(`${paint('red', 'error')}: internal error: ${messageOf(error)}`);
  if (terminal.io.env['CARETAKER_DEBUG'] && error instanceof Error) message(error.stack ?? '');
  else
    message(
      'This is a bug in Caretaker. Please report it, with the stack trace that CARETAKER_DEBUG=1 shows.',
    );
  return exit.notAllWell;
}
