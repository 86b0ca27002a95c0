/** Policy files with random changes, to which the reader of policies has to answer. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parse, stringify } from 'yaml';
import { loadJobs } from '../../../src/app/load-jobs.ts';
import { loadPolicies } from '../../../src/policy/load-policies.ts';
import { renderFinding } from '../../../src/yaml/diagnostic.ts';
import { YamlFile } from '../../../src/yaml/yaml-file.ts';
import { folderWith } from '../../settings/folder.ts';
import { chance, changed, pick } from './changes.ts';
import { policyTexts } from './corpus.ts';
import { changedText } from './texts.ts';

const registry = await loadJobs();

const MAX_MS = 1000;

/** Reads so many broken files, always the same ones: each without a crash, within a second of CPU, every error with a place. */
export function expectBrokenFilesRead(count: number): void {
  const texts = policyTexts();
  const file = join(folderWith({}), 'policies.yaml');
  const values = texts.map((text) => {
    const yaml = YamlFile.parse(file, text);
    return yaml instanceof YamlFile ? yaml.value() : {};
  });
  const below = chance(50_000);
  const counts = { accepted: 0, refused: 0, errors: 0, slowestMs: 0 };

  for (let i = 0; i < count; i += 1) {
    const original = below(texts.length);
    const text =
      below(3) === 0
        ? stringify(changed(values[original], below))
        : changedText(texts[original] ?? '', pick(below, texts), below);
    writeFileSync(file, text);
    const before = process.cpuUsage();
    const read = () => loadPolicies({ dir: '.', files: [file], registry });
    const { findings, warnings, policies } = expectNoThrow(read, text);
    const { user, system } = process.cpuUsage(before);
    const ms = (user + system) / 1000;
    counts.slowestMs = Math.max(counts.slowestMs, ms);
    expect({
      ms: ms < MAX_MS ? 'less than a second' : ms,
      text: ms < MAX_MS ? '' : text.slice(0, 1200) + text.slice(-300),
    }).toEqual({
      ms: 'less than a second',
      text: '',
    });
    counts[findings.length > 0 ? 'refused' : 'accepted'] += 1;
    counts.errors += findings.length;
    // A file is read or refused. It may list no policy.
    const isRead = policies.length > 0 || findings.length > 0 || parse(text)?.policies?.length === 0;
    expect({ text, isRead }).toMatchObject({ isRead: true });
    const lines = text.split(/\r\n|\r|\n/).length;
    for (const one of [...findings, ...warnings]) {
      const { line, column, message } = one;
      const isPlaced =
        one.file === file && line >= 1 && line <= lines + 1 && column >= 1 && message.length > 0;
      expect({ text, one, isPlaced }).toMatchObject({ isPlaced: true });
      expect(renderFinding(one, { color: false, columns: 100 })).toContain('policies.yaml');
    }
  }

  expect(counts.accepted).toBeGreaterThan(count / 50);
  expect(counts.refused).toBeGreaterThan(count / 2);
}

function expectNoThrow<T>(read: () => T, text: string): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`This file is not refused but makes an error:\n${text.slice(0, 3000)}`, { cause: error });
  }
}
