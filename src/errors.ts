/**
 * The base of every error that Caretaker throws on purpose.
 *
 * `code` never changes once published. The message is one sentence for a person: what, where, and what to do.
 * Rooms declare their own subclasses beside the code that throws them.
 */
export abstract class CaretakerError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The message of any thrown value, for places that must show something. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0 && error.message === '') {
    return messageOf(error.errors[0]);
  }
  return error instanceof Error ? error.message || error.name : String(error);
}

const fileFaults: Record<string, string> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of its path is not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its links are circular',
  EIO: 'the disk has errors',
};

/** Why a file cannot be read or written, as a clause: `it does not exist`. */
export function fileFaultOf(error: unknown): string {
  const code = systemCodeOf(error);
  return code === undefined ? messageOf(error) : (fileFaults[code] ?? `system error ${code}`);
}

/** The code of a system error (`ECONNREFUSED`, ...), also from the chain of causes. */
export function systemCodeOf(error: unknown): string | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at instanceof AggregateError && at.errors.length > 0) return systemCodeOf(at.errors[0]);
    const { code } = at as { code?: unknown };
    if (typeof code === 'string' && /^(E[A-Z]|UND_ERR_)/.test(code)) return code;
  }
  return undefined;
}
