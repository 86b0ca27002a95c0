/**
 * Environment variables in the config file: `${NAME}` and `${NAME:-default}`; `$${NAME}` is left as
 * `${NAME}`.
 */
import type { Remark } from '../yaml/yaml-file.ts';

export type Environment = Record<string, string | undefined>;

// Characters between `${` and `}` are moved into a private part of Unicode while YAML looks at the text.
const shift = 0xe000;

/**
 * The text with the inside of every `${...}` written in characters that mean nothing to YAML, of the same
 * length.
 *
 * Without this, `{ password: ${PASSWORD} }` would be no YAML: a brace ends a plain text inside braces.
 */
export const maskVariables = (text: string): string =>
  text.replace(/\$\{[^}\r\n]*\}/g, (variable) =>
    variable.replace(/[ -~]/g, (char, at: number) =>
      at === 0 ? char : String.fromCharCode(shift + char.charCodeAt(0)),
    ),
  );

const unmask = (text: string): string =>
  text.replace(/[\ue020-\ue07e]/g, (char) => String.fromCharCode(char.charCodeAt(0) - shift));

const written = /(\$?)\$\{([^}]*)(\}?)/g;
const named = /^([A-Za-z_]\w*)(?::-(.*))?$/s;

export interface Filled {
  /** Nothing when a variable is missing. */
  value: string | undefined;
  /** Every variable that is named. */
  names: string[];
  /** Variables that are not set and have no default. */
  missing: string[];
  /** What is written wrongly. */
  remarks: Remark[];
}

/** Replaces the variables in one scalar. Like a shell, `:-` also helps where a variable is set but empty. */
export function fillVariables(masked: string, environment: Environment): Filled {
  const names: string[] = [];
  const missing: string[] = [];
  const remarks: Remark[] = [];
  const value = unmask(masked).replace(written, (all, dollar: string, inside: string, end: string) => {
    if (dollar !== '') return all.slice(1);
    const [, name, fallback] = end === '' ? [] : (named.exec(inside) ?? []);
    if (name === undefined) {
      remarks.push({ message: `A variable is written \${NAME} or \${NAME:-default}.` });
      return '';
    }
    names.push(name);
    // Every object has a `constructor`.
    const set = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (fallback !== undefined) return set || fallback;
    if (set === undefined) missing.push(name);
    return set ?? '';
  });
  return { value: missing.length > 0 ? undefined : value, names, missing, remarks };
}
