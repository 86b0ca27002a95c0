/**
 * Reads a file of the operator as text: a regular file of limited size, in UTF-8, without control characters.
 */
import { readFileSync, statSync } from 'node:fs';
import { fileFaultOf, systemCodeOf } from '../errors.ts';
import { frameOf } from './code-frame.ts';
import { type Diagnostic, fileDiagnostic } from './diagnostic.ts';

const MAX_BYTES = 1024 * 1024;
/** Control characters except tab, line feed and carriage return. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression searches for them.
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f]/;

/** Reads a file, or returns why it cannot be read. Never throws, and never waits for a pipe. */
export function readTextFile(file: string): { text: string } | { findings: Diagnostic[] } {
  const reject = (message: string, suggestion?: string) => ({
    findings: [fileDiagnostic(file, message, suggestion)],
  });
  try {
    const stats = statSync(file);
    if (stats.isDirectory()) return reject('This is a folder, not a file.');
    if (!stats.isFile()) return reject('This is a pipe, a socket or a device, not a regular file.');
    if (stats.size > MAX_BYTES) return reject('The file is larger than 1 MiB, the maximum size.');
    return decoded(file, readFileSync(file));
  } catch (error) {
    const isMissing = systemCodeOf(error) === 'ENOENT';
    return reject(isMissing ? 'The file does not exist.' : `The file cannot be read: ${fileFaultOf(error)}.`);
  }
}

function decoded(file: string, bytes: Buffer): { text: string } | { findings: Diagnostic[] } {
  const place = (text: string, offset: number, message: string, suggestion: string) => {
    const before = text.slice(0, offset).split('\n');
    const [line, column] = [before.length, (before.at(-1) ?? '').length + 1];
    return {
      findings: [{ file, line, column, path: '', message, suggestion, frame: frameOf(text, line, column) }],
    };
  };
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const readable = bytes.toString('utf8');
    const at = Math.max(0, readable.indexOf('\ufffd'));
    return place(readable, at, 'The file is not UTF-8 text.', 'save it as UTF-8');
  }
  const at = text.search(control);
  if (at < 0) return { text };
  const name = `U+${text.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0')}`;
  return place(text, at, `The file contains a control character (${name}).`, 'remove it');
}
