/** The environment, and what a file `.env` in the project folder adds to it. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { type Diagnostic, InvalidFilesError } from '../yaml/diagnostic.ts';
import { readTextFile } from '../yaml/text-file.ts';
import type { Environment } from './variables.ts';

/**
 * The environment with what `.env` in `folder` adds to it. What is set already wins; without the file,
 * nothing is added.
 *
 * @throws {InvalidFilesError} when the file cannot be read, or a line of it is not what it seems.
 */
export function environmentOf(folder: string, env: Environment): Environment {
  const set = Object.entries(env).filter(([, value]) => value !== undefined);
  return { ...dotEnv(join(folder, '.env')), ...Object.fromEntries(set) };
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
 * Reads `NAME=value` lines: quotes of three kinds, which may go over several lines, `\n` in double ones,
 * comments after a space. Whatever other programs would read in another way is a fault.
 */
export function parseDotEnv(text: string): { variables: Record<string, string>; faults: Fault[] } {
  const variables = Object.create(null) as Record<string, string>;
  const faults: Fault[] = [];
  const lines = text.split(/\r?\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (/^\s*(#|$)/.test(line)) continue;
    const refuse = (message: string, suggestion?: string) =>
      faults.push({ line: at + 1, message, ...(suggestion === undefined ? {} : { suggestion }) });
    const [, name, rest] = assignment.exec(line) ?? [];
    if (name === undefined || rest === undefined) {
      refuse('A line of this file is written NAME=value; the name is of letters, digits and _.');
      continue;
    }
    if (Object.hasOwn(variables, name)) refuse(`${name} is given twice.`, 'keep one of them');
    if (name === 'CARETAKER_CONFIG')
      refuse(
        'CARETAKER_CONFIG has no effect here, since this file is found by way of the config.',
        'set it outside, or use --config',
      );
    const value = readValue(rest, lines.slice(at + 1));
    if ('fault' in value) refuse(`The value of ${name} ${value.fault}.`, value.suggestion);
    else {
      variables[name] = value.value;
      at += value.moreLines;
    }
  }
  return { variables, faults };
}

type ParsedValue = { value: string; moreLines: number } | { fault: string; suggestion: string };

function readValue(rest: string, following: readonly string[]): ParsedValue {
  const quote = /^["'`]/.exec(rest)?.[0];
  if (quote === undefined) {
    const value = rest.replace(/(^|[ \t]+)#.*$/, '').trim();
    if (!value.includes('#')) return { value, moreLines: 0 };
    return {
      fault: 'contains a "#", which starts a comment for some programs',
      suggestion: 'put the value into quotes',
    };
  }
  const text = [rest.slice(1), ...following].join('\n');
  const end = text.indexOf(quote);
  if (end < 0)
    return { fault: `starts with ${quote} and does not end with one`, suggestion: 'close the quotes' };
  const behind = text.slice(end + 1).split('\n')[0] ?? '';
  if (!/^[ \t]*(#.*)?$/.test(behind)) {
    return { fault: 'continues after its closing quote', suggestion: 'quote it with another of " \' `' };
  }
  const inside = text.slice(0, end);
  return {
    value: quote === '"' ? inside.replaceAll('\\n', '\n') : inside,
    moreLines: inside.split('\n').length - 1,
  };
}

/**
 * The place of a fault, without the values: they are secrets, and even a line that is no assignment may be
 * one.
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
