/** Lines for `access:` in the configuration: hashes of passwords and tokens. The file itself is not changed. */
import { hashPassword, hashToken, newToken } from '../../access/credentials.ts';
import type { Role } from '../../access/principal.ts';
import { CaretakerError } from '../../errors.ts';
import { name as nameSchema } from '../../settings/access-file.ts';
import type { Settings } from '../../settings/settings.ts';
import { suggestionFor } from '../../suggest.ts';
import { newPassword } from '../ask.ts';
import { type GlobalOptions, settingsOf } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';

interface PasswordOptions extends GlobalOptions {
  stdin?: true;
}
interface RoleOptions {
  role: Role[];
}

/** Asks for the password of a new user, and prints the user with its hash. */
export async function addUser(
  terminal: Terminal,
  name: string,
  options: PasswordOptions & RoleOptions,
): Promise<number> {
  needName(name);
  if (knownIn(terminal, options, 'users')?.includes(name))
    throw new UsageError(
      `There is a user "${name}" already: "caretaker user passwd ${name}" prints a new hash.`,
    );
  return printHash(terminal, name, options, [`roles: [${options.role.join(', ')}]`]);
}

/** Asks for a new password of a user, and prints its hash. */
export async function changePassword(
  terminal: Terminal,
  name: string,
  options: PasswordOptions,
): Promise<number> {
  needName(name);
  const known = knownIn(terminal, options, 'users');
  if (known && !known.includes(name)) {
    const hint = suggestionFor(name, known);
    throw new UsageError(`There is no user "${name}" under access.users${hint ? `: ${hint}` : '.'}`);
  }
  return printHash(terminal, name, options, []);
}

async function printHash(
  terminal: Terminal,
  name: string,
  { stdin }: PasswordOptions,
  more: readonly string[],
): Promise<number> {
  const password = await newPassword(terminal.io, stdin === true);
  const lines = [`password_hash: ${await hashPassword(password)}`, ...more];
  print(terminal, ['users', name], lines);
  return exit.ok;
}

/** Makes a token, prints it once, and prints its hash. */
export async function makeToken(
  terminal: Terminal,
  name: string,
  options: GlobalOptions & RoleOptions,
): Promise<number> {
  needName(name);
  if (knownIn(terminal, options, 'tokens')?.includes(name))
    terminal.message(`This replaces the token "${name}" once its new hash is in the configuration.`);
  const token = newToken();
  // Not on standard output, which is redirected into files.
  terminal.message(`The token, shown only now: ${token}`, 'values-only');
  print(terminal, ['tokens', name], [`hash: ${hashToken(token)}`, `roles: [${options.role.join(', ')}]`]);
  return exit.ok;
}

function print(terminal: Terminal, [kind, name]: [string, string], lines: readonly string[]): void {
  terminal.message('Add these lines to config/caretaker.yaml; a running daemon applies them:');
  terminal.print(
    ['access:', `  ${kind}:`, `    ${name}:`, ...lines.map((line) => `      ${line}`)].join('\n'),
  );
}

/** @throws {UsageError} */
function needName(name: string): void {
  const { error } = nameSchema.safeParse(name);
  if (error) throw new UsageError(`The name ${error.issues[0]?.message}.`);
}

/** The names in the configuration; undefined when it cannot be read, which is no reason not to make a hash. */
function knownIn(terminal: Terminal, options: GlobalOptions, kind: 'users' | 'tokens'): string[] | undefined {
  let settings: Settings;
  try {
    settings = settingsOf(terminal, options);
  } catch (error) {
    if (error instanceof CaretakerError) return undefined;
    throw error;
  }
  return settings.access[kind].map(({ name }) => name);
}
