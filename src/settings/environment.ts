/** The environment, with the variables of a file `.env` in the project folder. */
import { lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Diagnostic, fileDiagnostic, InvalidFilesError, shortFile } from '../yaml/diagnostic.ts';
import { readTextFile } from '../yaml/text-file.ts';
import type { Remark } from '../yaml/yaml-file.ts';

// Environment variables in the config file: `${NAME}` and `${NAME:-default}`. `$${NAME}` means a literal
// `${NAME}`.

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

/**
 * Returns the environment with the variables of `.env` in `folder`, if that file exists. Variables that are
 * already set take precedence.
 *
 * @throws {InvalidFilesError} when the file cannot be read, or a line of it is invalid or ambiguous.
 */
export function environmentOf(folder: string, env: Environment): Environment {
  const set = Object.entries(env).filter(([, value]) => value !== undefined);
  return { ...dotEnv(join(folder, '.env')), ...Object.fromEntries(set) };
}

/** A warning when every user of this machine can read the file `.env` in `folder`. */
export function exposedEnv(folder: string): Diagnostic | undefined {
  const file = join(folder, '.env');
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats || (stats.mode & 0o004) === 0 || process.platform === 'win32') return undefined;
  const message = 'Every user of this machine can read this file, which may hold a token.';
  return fileDiagnostic(file, message, `run chmod 600 ${shortFile(file)}`);
}

function dotEnv(file: string): Environment {
  if (!lstatSync(file, { throwIfNoEntry: false })) return {};
  const read = readTextFile(file);
  if ('findings' in read) throw new InvalidFilesError(read.findings.map(withoutValues));
  const { variables, faults } = parseDotEnv(read.text);
  if (faults.length > 0)
    throw new InvalidFilesError(faults.map((fault) => findingOf(file, read.text, fault)));
  return variables;
}

interface Fault {
  /** From 1. */
  line: number;
  message: string;
  suggestion?: string;
}

const assignment = /^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*(.*)$/;

/**
 * Parses `NAME=value` lines: three kinds of quotes, which may span several lines, `\n` in double quotes, and
 * comments after a space. A line that other programs would read differently is an error.
 */
export function parseDotEnv(text: string): { variables: Record<string, string>; faults: Fault[] } {
  const variables = Object.create(null) as Record<string, string>;
  const faults: Fault[] = [];
  const lines = text.split(/\r?\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (/^\s*(#|$)/.test(line)) continue;
    const reject = (message: string, suggestion?: string) =>
      faults.push({ line: at + 1, message, ...(suggestion === undefined ? {} : { suggestion }) });
    const [, name, rest] = assignment.exec(line) ?? [];
    if (name === undefined || rest === undefined) {
      reject('A line must have the form NAME=value. A name has only letters, digits and _.');
      continue;
    }
    if (Object.hasOwn(variables, name)) reject(`${name} is defined twice.`, 'keep only one');
    if (name === 'CARETAKER_CONFIG')
      reject(
        'CARETAKER_CONFIG has no effect here, because this file is found through the configuration file.',
        'set it in the environment, or use --config',
      );
    const value = readValue(rest, lines.slice(at + 1));
    if ('fault' in value) reject(`The value of ${name} ${value.fault}.`, value.suggestion);
    else {
      variables[name] = value.value;
      at += value.moreLines;
    }
  }
  return { variables, faults };
}

type ParsedValue = { value: string; moreLines: number } | { fault: string; suggestion: string };

function readValue(rest: string, following: readonly string[]): ParsedValue {
  const read = readText(rest, following);
  // Some programs would replace it; here, it would be sent as a part of the token.
  const variable = 'value' in read && !rest.startsWith("'") ? /\$\{\w*/.exec(read.value) : null;
  if (!variable) return read;
  return {
    fault: `contains ${variable[0]}}, and variables are not replaced in this file`,
    suggestion: "write the value itself, or put it in '...' if it is meant literally",
  };
}

function readText(rest: string, following: readonly string[]): ParsedValue {
  const quote = /^["'`]/.exec(rest)?.[0];
  if (quote === undefined) {
    const value = rest.replace(/(^|[ \t]+)#.*$/, '').trim();
    if (!value.includes('#')) return { value, moreLines: 0 };
    return {
      fault: 'contains a "#", which starts a comment in some programs',
      suggestion: 'quote the value',
    };
  }
  const text = [rest.slice(1), ...following].join('\n');
  const end = text.indexOf(quote);
  if (end < 0)
    return { fault: `starts with ${quote} but has no closing one`, suggestion: 'close the quotes' };
  const remainder = text.slice(end + 1).split('\n')[0] ?? '';
  if (!/^[ \t]*(#.*)?$/.test(remainder)) {
    return {
      fault: 'continues after its closing quote',
      suggestion: 'use another kind of quotes: " \' or `',
    };
  }
  const inside = text.slice(0, end);
  return {
    value: quote === '"' ? inside.replaceAll('\\n', '\n') : inside,
    moreLines: inside.split('\n').length - 1,
  };
}

/**
 * A finding without values, because they are secrets. Even a line that is not an assignment may be a secret.
 */
function findingOf(file: string, text: string, { line, message, suggestion }: Fault): Diagnostic {
  const written = text.split(/\r?\n/)[line - 1] ?? '';
  const [name = ''] = /^[ \t]*(?:export[ \t]+)?[A-Z_][A-Z0-9_]{0,63}[ \t]*=[ \t]*/.exec(written) ?? [];
  const masked = name + '*'.repeat(Math.min(written.length - name.length, 40));
  return {
    file,
    line,
    column: 1,
    path: '',
    message,
    ...(suggestion === undefined ? {} : { suggestion }),
    frame: `> ${line} | ${masked}`,
  };
}

const withoutValues = (finding: Diagnostic): Diagnostic =>
  finding.frame === '' ? finding : { ...finding, frame: `> ${finding.line} | ***` };
