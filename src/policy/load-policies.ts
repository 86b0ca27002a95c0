/**
 * Reads the policy files of an operator. A policy with errors becomes findings; the others are still usable.
 */
import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Registry } from '../job/registry.ts';
import { ConfigFile } from '../settings/config-file.ts';
import type { Settings } from '../settings/settings.ts';
import { suggestionFor } from '../suggest.ts';
import { type Diagnostic, fileDiagnostic, inOrder, shortFile } from '../yaml/diagnostic.ts';
import { readStrictly } from '../yaml/read-strictly.ts';
import { YamlFile } from '../yaml/yaml-file.ts';
import { chainFault, formatChainFault, type Link, linksByName } from './chains.ts';
import { type ReadPolicy, readPolicy } from './check-policy.ts';
import { type ExpandedFile, type ExpandedPolicy, expandFile } from './expand-file.ts';
import { diagnosticAt } from './expanded-place.ts';
import type { Policy } from './policy.ts';
import { PolicyEntry, PolicyFileOutline } from './policy-file.ts';
import { requiredBy, requiredRemarks } from './required-policies.ts';

export interface Source {
  /** The folder whose `*.yaml` and `*.yml` are read, in the order of their names. */
  dir: string;
  /** Reads these files instead, and the files in these folders. */
  files?: readonly string[] | undefined;
  registry: Registry;
  /** Without them, names of accounts and notifications are not checked. */
  settings?: Settings | undefined;
}

/** A probable error in policies that can be used; in none for one that is about the file. */
export interface Warning extends Diagnostic {
  policies: string[];
}

export interface Loaded {
  policies: Policy[];
  findings: Diagnostic[];
  /** Those of the findings that are about other policies (`schedule.after`, `undo_of`): their files could be read. */
  linkFindings: Diagnostic[];
  /** Probable errors in the policies that can be used. */
  warnings: Warning[];
  /** Entries of the folder that are not read: other files, and folders, which end with a slash. */
  ignored: string[];
  /** Policies with errors whose names could be read. */
  broken: { name: string; file: string }[];
  /** The number of files that are read as policies. */
  files: number;
}

/**
 * All policies that can be used, frozen and sorted by file and place, and the errors in the others.
 *
 * Of two policies with the same name, the one in the older file is used, so that a copy replaces nothing; of
 * files with the same time, the first. `policies: []` says that there are none, and only if no other file is there. Never
 * throws because of the content of a file.
 */
export function loadPolicies(source: Source): Loaded {
  const { files, findings, ignored } = filesOf(source);
  const policies: Policy[] = [];
  const linkFindings: Diagnostic[] = [];
  const broken: Loaded['broken'] = [];
  const warnings: Warning[] = [];
  const remarks = { findings, warnings, isOnlyFile: files.length === 1 };
  const entries = files.flatMap((file) => readEntries(file, source, remarks));
  findings.push(...eachOnce(entries, ({ read }) => read.findings).map(({ finding }) => finding));
  const used: Entry[] = [];
  const owners = ownersOf(entries);
  const all = [...entriesElsewhere(source, files, entries), ...owners.values()];
  const links = linksByName(all.flatMap(linkOfEntry));
  const known = new Map(
    all.flatMap(({ read }) => (read.name === undefined ? [] : [[read.name, read.policy]])),
  );
  for (const entry of entries) {
    const { read, yaml } = entry;
    const owner = read.name === undefined ? undefined : owners.get(read.name);
    const linked =
      owner === entry ? [...chainFinding(entry, links), ...requiredFindings(entry, known, source)] : [];
    linkFindings.push(...linked);
    if (owner && owner !== entry) findings.push(nameTwice(entry, owner));
    else if (read.policy && linked.length === 0) {
      policies.push(read.policy);
      used.push(entry);
    } else if (read.name !== undefined) broken.push({ name: read.name, file: yaml.file });
  }
  findings.push(...linkFindings);
  for (const { finding, owners } of eachOnce(used, ({ read }) => read.warnings))
    warnings.push({ ...finding, policies: owners.flatMap(({ read }) => read.name ?? []) });
  return {
    policies,
    findings: inOrder(findings),
    linkFindings,
    warnings: inOrder(warnings),
    ignored,
    broken,
    files: files.length,
  };
}

/** A folder without a file may be one whose disk is not mounted. */
export const emptyFolder = (dir: string): Diagnostic =>
  fileDiagnostic(
    dir,
    'The policies folder has no policy file (*.yaml, *.yml).',
    'to have no policies, write a file in it with the line policies: []',
  );

/** What is found in the files, apart from their policies. */
type Remarks = Pick<Loaded, 'findings' | 'warnings'> & { isOnlyFile: boolean };

function readEntries(file: string, source: Source, remarks: Remarks): Entry[] {
  const yaml = YamlFile.read(file);
  if (!(yaml instanceof YamlFile)) {
    remarks.findings.push(...yaml);
    return [];
  }
  const { policies, defaults } = policiesOf(yaml, remarks);
  return [
    // What only a policy makes wrong of its defaults is reported for that policy.
    ...(defaults ? [{ yaml, policy: defaults, read: ofForm(readPolicy(yaml, defaults, source)) }] : []),
    ...policies.map((policy) => ({ yaml, policy, read: readPolicy(yaml, policy, source) })),
  ];
}

const ofForm = ({ findings }: ReadPolicy): ReadPolicy => ({
  findings: findings.filter(({ form }) => form),
  warnings: [],
});

/** A policy may follow one that has errors: that one has its own findings. */
const linkOfEntry = ({ read: { name, after } }: Entry): Link[] =>
  name === undefined ? [] : [{ name, after }];

/** When only some files are read, a policy of theirs may name one of another file of the folder. */
function entriesElsewhere(source: Source, files: readonly string[], entries: readonly Entry[]): Entry[] {
  const namesAnother = ({ read: { after, policy } }: Entry) =>
    after !== undefined || (policy !== undefined && requiredBy(policy, source.registry).length > 0);
  if (!source.files || !entries.some(namesAnother)) return [];
  const read = new Set(files.map(whereabouts));
  return filesIn(source.dir)
    .files.filter((file) => !read.has(whereabouts(file)))
    .flatMap((file) => readEntries(file, source, { findings: [], warnings: [], isOnlyFile: false }));
}

/** The policy that it follows does not exist, or follows it in turn. */
function chainFinding(entry: Entry, links: ReadonlyMap<string, Link>): Diagnostic[] {
  const [link] = linkOfEntry(entry);
  const fault = link && chainFault(link, links);
  if (!fault) return [];
  const others = [...links.keys()].filter((name) => name !== link.name);
  const suggestion = fault.is === 'missing' ? suggestionFor(fault.policy, others) : undefined;
  const remark = { message: formatChainFault(link.name, fault), suggestion };
  return [diagnosticAt(entry.yaml, entry.policy, ['schedule', 'after', 'policy'], remark)];
}

/** What is wrong with the policies that the options of its jobs name. */
const requiredFindings = (
  { yaml, policy, read }: Entry,
  known: ReadonlyMap<string, Policy | undefined>,
  { registry }: Source,
): Diagnostic[] =>
  read.policy
    ? requiredRemarks(read.policy, known, registry).map(([path, remark]) =>
        diagnosticAt(yaml, policy, path, remark),
      )
    : [];

type Files = Pick<Loaded, 'findings' | 'ignored'> & { files: string[] };

function filesOf({ dir, files, settings }: Source): Files {
  if (!files) return filesIn(dir);
  const parts = files.map((file) =>
    isFolder(file)
      ? holdingSome(file, filesIn(file), settings)
      : { files: [file], findings: [], ignored: [] },
  );
  // A file with two names is read once, and the configuration is not read as a file of policies.
  const seen = new Set(settings?.file === undefined ? [] : [whereabouts(settings.file)]);
  return {
    files: parts
      .flatMap((part) => part.files)
      .filter((file) => !seen.has(whereabouts(file)) && seen.add(whereabouts(file))),
    findings: parts.flatMap((part) => part.findings),
    ignored: parts.flatMap((part) => part.ignored),
  };
}

/** A folder that is named on the command line has to contain policies. */
function holdingSome(folder: string, read: Files, settings: Settings | undefined): Files {
  const isConfig = (file: string) =>
    settings?.file !== undefined && whereabouts(file) === whereabouts(settings.file);
  if (read.findings.length > 0 || read.files.some((file) => !isConfig(file))) return read;
  const holding = read.ignored.filter((path) => path.endsWith('/') && filesIn(path).files.length > 0);
  const isUsual = (path: string) => basename(path) === 'policies';
  const inside = holding.find(isUsual) ?? holding[0];
  const finding = fileDiagnostic(
    folder,
    'The folder holds no policy file (*.yaml, *.yml).',
    inside && `did you mean ${shortFile(inside)}?`,
  );
  return { files: read.files, findings: [finding], ignored: [] };
}

const isFolder = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;

function whereabouts(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file);
  }
}

function filesIn(dir: string): Files {
  let entries: Dirent[];
  try {
    entries = readdirSync(dir, { withFileTypes: true });
  } catch {
    const message = 'The policies folder does not exist or cannot be read.';
    const suggestion = 'mount it, or correct the key "policies" of the configuration';
    return { files: [], findings: [fileDiagnostic(dir, message, suggestion)], ignored: [] };
  }
  // Hidden files and a README are expected here and not reported.
  const shown = entries
    .filter(({ name }) => !/^\.|\.md$/.test(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const isRead = (entry: Dirent) => !entry.isDirectory() && isPolicyFile(entry.name);
  return {
    files: shown.filter(isRead).map(({ name }) => join(dir, name)),
    findings: [],
    ignored: shown
      .filter((entry) => !isRead(entry))
      .map((entry) => join(dir, entry.name) + (entry.isDirectory() ? '/' : '')),
  };
}

/** Whether a file in the policies folder is read, by its name. */
export const isPolicyFile = (name: string): boolean => /^[^.].*\.ya?ml$/.test(name);

/** A file's policies and defaults, expanded. */
function policiesOf(
  yaml: YamlFile,
  { findings, warnings, isOnlyFile }: Remarks,
): Pick<ExpandedFile, 'policies' | 'defaults'> {
  const value = yaml.value();
  const message = 'The file holds no policy.';
  if (value === null) {
    const suggestion = isOnlyFile
      ? 'to have no policies, write the line policies: []'
      : 'delete the file if that is meant';
    findings.push(yaml.finding([], { message, suggestion, form: true }));
    return { policies: [] };
  }
  const other = otherFile(value);
  if (other) {
    findings.push(yaml.finding([], { ...other, form: true }));
    return { policies: [] };
  }
  const outline = readStrictly(PolicyFileOutline, value, (path, remark) => yaml.finding(path, remark));
  if ('findings' in outline) findings.push(...outline.findings);
  else if (outline.value.policies.length === 0 && !isOnlyFile)
    findings.push(
      yaml.finding(['policies'], { message, suggestion: 'delete the file, because others hold policies' }),
    );
  else {
    const expanded = expandFile(outline.value, (path) => yaml.sourceOf(path));
    findings.push(...expanded.faults.map(([path, remark]) => yaml.finding(path, remark)));
    const isSound = [...expanded.policies, expanded].every(({ faults }) => faults.length === 0);
    if (isSound) warnings.push(...expanded.unused.map((name) => unusedVariable(yaml, name)));
    return expanded;
  }
  return { policies: [] };
}

const unusedVariable = (yaml: YamlFile, name: string): Warning => ({
  ...yaml.finding(['vars', name], {
    at: 'key',
    message: `No policy of this file uses vars.${name}.`,
    suggestion: `remove it, or use it as \${{ vars.${name} }}`,
  }),
  policies: [],
});

/**
 * Errors or warnings of policies, each once: several policies can share a default, a variable or an entry
 * with a matrix. One that only some combinations of a matrix have names the first of them.
 */
function eachOnce(
  entries: readonly Entry[],
  remarksOf: (entry: Entry) => readonly Diagnostic[],
): { finding: Diagnostic; owners: Entry[] }[] {
  const found = new Map<string, { finding: Diagnostic; owners: Entry[] }>();
  for (const owner of entries) {
    for (const finding of remarksOf(owner)) {
      const { file, line, column, message, path } = finding;
      const key = JSON.stringify([file, line, column, message, path]);
      const known = found.get(key);
      if (known) known.owners.push(owner);
      else found.set(key, { finding, owners: [owner] });
    }
  }
  return [...found.values()].map(({ finding, owners }) => {
    const [owner] = owners;
    const combination = owner?.policy.combination;
    // A message that names a value of the matrix already has its place.
    if (!owner || combination === undefined || finding.message.includes(' matrix.'))
      return { finding, owners };
    if (owners.length >= siblingsOf(owner, entries)) return { finding, owners };
    const more = owners.length > 1 ? ` and ${owners.length - 1} more` : '';
    return { finding: { ...finding, message: `${finding.message} (${combination}${more})` }, owners };
  });
}

/** How many policies the same entry of a file makes. */
const siblingsOf = ({ yaml, policy }: Entry, entries: readonly Entry[]): number =>
  entries.filter((one) => one.yaml === yaml && one.policy.path[1] === policy.path[1]).length;

/** What a file is that holds no list of policies, so that its keys need not be reported one by one. */
function otherFile(value: unknown): Pick<Diagnostic, 'message' | 'suggestion'> | undefined {
  const asEntry = 'write it under "policies:", as an entry that starts with "- name:"';
  if (Array.isArray(value))
    return { message: 'The file is a list.', suggestion: 'write it under "policies:"' };
  if (typeof value !== 'object' || value === null) return undefined;
  const { policies = '', ...rest } = value as Record<string, unknown>;
  // In a configuration, it is the path of the folder.
  if (typeof policies !== 'string') return undefined;
  const keys = Object.keys(rest);
  const count = (known: object) => keys.filter((key) => Object.hasOwn(known, key)).length;
  const [ofConfig, ofPolicy] = [count(ConfigFile.shape), count(PolicyEntry.shape)];
  if (ofConfig * 2 > keys.length && ofConfig > ofPolicy)
    return {
      message: 'This is a configuration, not a file of policies.',
      suggestion: 'give it with --config',
    };
  if (ofPolicy * 2 > keys.length && ofPolicy > 1)
    return { message: 'This is a policy, and not in the list of a file.', suggestion: asEntry };
  return count(PolicyFileOutline.shape) === 0 && !('policies' in value) && keys.length > 1
    ? { message: '"policies" is missing, so this is no file of policies.' }
    : undefined;
}

/** A policy of a file, with the result of reading it. */
interface Entry {
  yaml: YamlFile;
  policy: ExpandedPolicy;
  read: ReadPolicy;
}

/** Files written within this time were copied or checked out together, so their order means nothing. */
const SAME_TIME_MS = 60_000;

/** The policy that is used for each name. */
function ownersOf(entries: readonly Entry[]): Map<string, Entry> {
  const owners = new Map<string, Entry>();
  for (const entry of entries) {
    const { name } = entry.read;
    if (name === undefined) continue;
    const owner = owners.get(name);
    if (!owner || writtenAt(owner) - writtenAt(entry) > SAME_TIME_MS) owners.set(name, entry);
  }
  return owners;
}

const writtenAt = ({ yaml }: Entry): number => statSync(yaml.file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

function nameTwice({ yaml, policy, read }: Entry, owner: Entry): Diagnostic {
  const path = [...policy.path, 'name'];
  if (owner.yaml === yaml && String(owner.policy.path) === String(policy.path))
    return yaml.finding(path, {
      message: `Several combinations of the matrix make the name "${read.name}".`,
      suggestion: 'use every key of the matrix in "name", or none to have all values appended',
    });
  const place = owner.yaml.placeOf([...owner.policy.path, 'name']);
  return yaml.finding(path, { message: `The name "${read.name}" is taken already, in ${place}.` });
}
