/** Whether a JSON Schema and the reader of a kind of file agree on the form of texts, also of randomly changed ones. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { afterAll, expect } from 'vitest';
import { stringify } from 'yaml';
import type { Diagnostic } from '../../../src/yaml/diagnostic.ts';
import { YamlFile } from '../../../src/yaml/yaml-file.ts';
import { memoryFolder } from '../../support/in-memory.ts';
import { chance, changed, pick } from './changes.ts';

type Finding = Pick<Diagnostic, 'path' | 'message' | 'form'>;

interface Judged {
  valid: boolean;
  errors: string[];
  findings: Finding[];
}

export type Judge = (text: string) => Judged | undefined;

/** Judges a text by the schema and by the reader; undefined when it is no YAML. The reader is given a file
 * with the text. Called once for a file of tests. */
export function judgeBy(isValid: ValidateFunction, findingsOf: (file: string) => readonly Finding[]): Judge {
  const folder = mkdtempSync(join(memoryFolder(), 'caretaker-agreement-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'file.yaml');
  return (text) => {
    const yaml = YamlFile.parse(file, text);
    if (!(yaml instanceof YamlFile)) return undefined;
    writeFileSync(file, text);
    const valid = isValid(yaml.value());
    const errors = (isValid.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
    const findings = findingsOf(file).map(({ path, message, form }) => ({
      path,
      message,
      ...(form ? { form } : {}),
    }));
    return { valid, errors, findings };
  };
}

/** Changes the texts at random places, and compares both judgements. Each kind of result occurs among a thousand. */
export function expectAgreement(judge: Judge, texts: readonly string[], count: number): void {
  const below = chance(20_261_122);
  const originals = texts.map((text) => (YamlFile.parse('file.yaml', text) as YamlFile).value());
  const counts = { accepted: 0, refused: 0, refusedForOtherReasons: 0 };
  const found: object[] = [];
  for (let i = 0; i < count; i += 1) {
    const text = stringify(changed(pick(below, originals), below));
    const judged = judge(text);
    if (!judged) continue;
    const { valid, findings } = judged;
    if (valid ? findings.some(({ form }) => form) : findings.length === 0) found.push({ text, ...judged });
    if (!valid) counts.refused += 1;
    else counts[findings.length === 0 ? 'accepted' : 'refusedForOtherReasons'] += 1;
  }
  expect(found.slice(0, 5)).toEqual([]);
  for (const each of Object.values(counts))
    expect(each).toBeGreaterThanOrEqual(10 * Math.floor(count / 1_000));
}
