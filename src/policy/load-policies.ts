/** Reads the operator's policy files. A broken policy becomes findings, and the others are there all the same. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Registry } from '../job/registry.ts';
import { type Finding, fileFinding, inOrder } from '../settings/finding.ts';
import { readStrictly } from '../settings/read-strictly.ts';
import type { Settings } from '../settings/settings.ts';
import { type Path, YamlFile } from '../settings/yaml-file.ts';
import { readPolicy } from './check-policy.ts';
import type { Policy } from './policy.ts';
import { PolicyFileOutline } from './policy-file.ts';

export interface Source {
  /** The folder whose `*.yaml` and `*.yml` are read, in the order of their names. */
  dir: string;
  /** Read these files instead of the folder's. */
  files?: readonly string[] | undefined;
  registry: Registry;
  /** Without them, names of accounts and notifications are not checked. */
  settings?: Settings | undefined;
}

/**
 * All policies that can be used, frozen and sorted by file and place, and what is wrong with the others.
 *
 * Of two policies with one name the first is taken. Never throws for what stands in a file.
 */
export function loadPolicies(source: Source): { policies: Policy[]; findings: Finding[] } {
  const { files, findings } = filesOf(source);
  const policies: Policy[] = [];
  const taken = new Map<string, string>();
  for (const file of files) {
    const yaml = YamlFile.read(file);
    if (!(yaml instanceof YamlFile)) {
      findings.push(...yaml);
      continue;
    }
    for (const path of entriesOf(yaml, findings)) {
      const read = readPolicy(yaml, path, source);
      findings.push(...read.findings);
      const twin = nameTwice(yaml, path, read.name, taken);
      if (twin) findings.push(twin);
      else if (read.policy) policies.push(read.policy);
    }
  }
  return { policies, findings: inOrder(findings) };
}

function filesOf({ dir, files }: Source): { files: readonly string[]; findings: Finding[] } {
  if (files) return { files, findings: [] };
  try {
    const names = readdirSync(dir).filter((name) => /^[^.].*\.ya?ml$/.test(name));
    return { files: names.sort().map((name) => join(dir, name)), findings: [] };
  } catch {
    const missing = fileFinding(
      dir,
      'The policies folder does not exist or cannot be read.',
      'run caretaker init',
    );
    return { files: [], findings: [missing] };
  }
}

/** The paths of a file's policies; none of a file in which everything is commented out. */
function entriesOf(yaml: YamlFile, findings: Finding[]): Path[] {
  const value = yaml.value();
  if (value === null) return [];
  const outline = readStrictly(PolicyFileOutline, value, (path, remark) => yaml.finding(path, remark));
  if ('value' in outline) return outline.value.policies.map((_, i) => ['policies', i]);
  findings.push(...outline.findings);
  return [];
}

function nameTwice(
  yaml: YamlFile,
  path: Path,
  name: string | undefined,
  taken: Map<string, string>,
): Finding | undefined {
  if (name === undefined) return undefined;
  const first = taken.get(name);
  const place = [...path, 'name'];
  if (first === undefined) {
    taken.set(name, yaml.placeOf(place));
    return undefined;
  }
  return yaml.finding(place, { message: `The name "${name}" is taken already, in ${first}.` });
}
