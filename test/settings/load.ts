/** Reads a configuration that is given as text. */
import { loadSettings } from '../../src/settings/load-settings.ts';
import { InvalidFilesError } from '../../src/yaml/diagnostic.ts';
import { folderWith } from './folder.ts';

type Env = Record<string, string>;

export const load = (text: string, env: Env = {}, files: Record<string, string> = {}) =>
  loadSettings({ cwd: folderWith({ 'config/caretaker.yaml': text, ...files }), env });

/** The errors of a configuration, each with its place and the suggestion. */
export function errorsOf(text: string, env: Env = {}): string[] {
  try {
    load(text, env);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidFilesError)) throw error;
    return error.findings.map(
      ({ line, column, message, suggestion }) =>
        `${line}:${column} ${message}${suggestion ? ` ${suggestion}` : ''}`,
    );
  }
}
