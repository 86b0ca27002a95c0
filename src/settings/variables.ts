/**
 * Environment variables in the config file: `${NAME}` and `${NAME:-default}`. `$${NAME}` means a literal
 * `${NAME}`.
 */
import type { Remark } from '../yaml/yaml-file.ts';

export type Environment = Record<string, string | undefined>;

// The characters of `{NAME}` are shifted into a private area of Unicode while the text is parsed as YAML.
const shift = 0xe000;

/**
 * Replaces the inside of every `${...}` by characters without a meaning in YAML, with the same length.
 *
 * Without this, `{ password: ${PASSWORD} }` would be invalid YAML: a brace ends an unquoted string inside
 * braces.
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
  /** Undefined when a variable is missing. */
  value: string | undefined;
  /** All variables that are used. */
  names: string[];
  /** Variables that are not set and have no default. */
  missing: string[];
  /** Syntax errors. */
  remarks: Remark[];
}

/**
 * Replaces the variables in one scalar. As in a shell, `:-` also applies when a variable is set but empty.
 */
export function fillVariables(masked: string, environment: Environment): Filled {
  const names: string[] = [];
  const missing: string[] = [];
  const remarks: Remark[] = [];
  const value = unmask(masked).replace(written, (all, dollar: string, inside: string, end: string) => {
    if (dollar !== '') return all.slice(1);
    const [, name, fallback] = end === '' ? [] : (named.exec(inside) ?? []);
    if (name === undefined) {
      remarks.push({ message: `A variable must have the form \${NAME} or \${NAME:-default}.` });
      return '';
    }
    names.push(name);
    // `constructor` and other names are inherited by every object.
    const set = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (fallback !== undefined) return set || fallback;
    if (set === undefined) missing.push(name);
    return set ?? '';
  });
  return { value: missing.length > 0 ? undefined : value, names, missing, remarks };
}
