/** Reads a configuration that is given as text. */
import { loadSettings } from '../../src/settings/load-settings.ts';
import { type Diagnostic, InvalidFilesError } from '../../src/yaml/diagnostic.ts';
import { folderWith } from './folder.ts';

type Env = Record<string, string>;

export const load = (text: string, env: Env = {}, files: Record<string, string> = {}) =>
  loadSettings({ cwd: folderWith({ 'config/caretaker.yaml': text, ...files }), env });

/** What is wrong with files that cannot be read; nothing when they can. */
export function findingsOf(reading: () => unknown): readonly Diagnostic[] {
  try {
    reading();
    return [];
  } catch (error) {
    if (error instanceof InvalidFilesError) return error.findings;
    throw error;
  }
}

/** A finding with its place and the suggestion. */
export const told = ({ line, column, message, suggestion }: Diagnostic): string =>
  `${line}:${column} ${message}${suggestion ? ` ${suggestion}` : ''}`;

/** The errors of a configuration. */
export const errorsOf = (text: string, env: Env = {}): string[] =>
  findingsOf(() => load(text, env)).map(told);
