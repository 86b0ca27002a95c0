/** Reads the files of tests. A broken test is a finding with its place. */
import { readdirSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import type { ListId } from '../../contract/operations.ts';
import type { Loaded } from '../../policy/load-policies.ts';
import type { Policy } from '../../policy/policy.ts';
import { suggestionFor } from '../../suggest.ts';
import { type Diagnostic, inOrder } from '../../yaml/diagnostic.ts';
import { readStrictly } from '../../yaml/read-strictly.ts';
import { type Path, YamlFile } from '../../yaml/yaml-file.ts';
import { InventoryError, readInventory } from '../inventory/file.ts';
import { type Inventory, listIds } from '../inventory/inventory.ts';
import { faultOf, type Given, type PartialItem } from './given-reads.ts';
import { PolicyTest, TestFileOutline } from './test-file.ts';

/** A test that can be run. */
export interface LoadedTest {
  file: string;
  /** `config/tests/nightly-sync.yaml:3:5` */
  place: string;
  test: PolicyTest;
  policy: Policy;
  inventory?: Inventory;
}

export interface LoadedTests {
  tests: LoadedTest[];
  findings: Diagnostic[];
}

/** The test files of a folder and the folders in it, by name; none when there is no such folder. */
export function testFilesIn(folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    return [];
  }
  const isRead = (name: string) =>
    /\.ya?ml$/.test(name) && !name.split(sep).some((part) => part.startsWith('.'));
  return names
    .filter(isRead)
    .map((name) => join(folder, name))
    .sort();
}

type Policies = Pick<Loaded, 'policies' | 'broken'>;

/**
 * Reads the tests of these files. Never throws for the content of a file. `loadFrom` loads the policies of a folder
 * or file that a test file names instead of `loaded`.
 */
export function loadTests(
  files: readonly string[],
  loaded: Policies,
  loadFrom: (path: string) => Policies & Pick<Loaded, 'findings'> = () => ({ ...loaded, findings: [] }),
): LoadedTests {
  const all: LoadedTests = { tests: [], findings: [] };
  const inventories = new Map<string, Inventory>();
  const others = new Map<string, Policies>();
  const policiesOf = (file: string, path: string | undefined): Policies => {
    if (path === undefined) return loaded;
    const place = resolve(dirname(file), path);
    const known = others.get(place);
    if (known) return known;
    const other = loadFrom(place);
    all.findings.push(...other.findings);
    others.set(place, other);
    return other;
  };
  for (const file of files) {
    const yaml = YamlFile.read(file);
    if (!(yaml instanceof YamlFile)) {
      all.findings.push(...yaml);
      continue;
    }
    const { paths, policies } = entriesOf(yaml, all.findings);
    if (paths.length === 0) continue;
    const known = policiesOf(file, policies);
    for (const path of paths) {
      const entry = (yaml.value() as { tests: unknown[] }).tests[path[1]];
      const read = readStrictly(PolicyTest, entry, yaml.finding.bind(yaml), path);
      const one = 'findings' in read ? read : loadTest(yaml, path, read.value, known, inventories);
      if ('findings' in one) all.findings.push(...one.findings);
      else all.tests.push(one);
    }
  }
  return { ...all, findings: inOrder(all.findings) };
}

/** The paths of a file's tests, and the policies that it names. */
function entriesOf(
  yaml: YamlFile,
  findings: Diagnostic[],
): { paths: ['tests', number][]; policies?: string | undefined } {
  const outline = readStrictly(TestFileOutline, yaml.value() ?? {}, yaml.finding.bind(yaml));
  if ('findings' in outline) {
    findings.push(...outline.findings);
    return { paths: [] };
  }
  const { policies, tests } = outline.value;
  return { policies, paths: tests.map((_, index) => ['tests', index]) };
}

function loadTest(
  yaml: YamlFile,
  path: Path,
  test: PolicyTest,
  { policies, broken }: Policies,
  inventories: Map<string, Inventory>,
): LoadedTest | { findings: Diagnostic[] } {
  const policy = policies.find(({ name }) => name === test.policy);
  const findings = incompleteItems(yaml, path, test);
  if (!policy) {
    const isBroken = broken.some(({ name }) => name === test.policy);
    const message = isBroken
      ? `The policy "${test.policy}" has errors.`
      : `There is no policy "${test.policy}".`;
    const suggestion = isBroken
      ? 'run caretaker validate'
      : suggestionFor(
          test.policy,
          policies.map(({ name }) => name),
        );
    findings.push(yaml.finding([...path, 'policy'], { message, suggestion }));
  }
  const inventory = inventoryOf(yaml, path, test, inventories, findings);
  if (!policy || findings.length > 0) return { findings };
  const place = yaml.placeOf([...path, 'name']);
  return { file: yaml.file, place, test, policy, ...(inventory ? { inventory } : {}) };
}

function inventoryOf(
  yaml: YamlFile,
  path: Path,
  test: PolicyTest,
  inventories: Map<string, Inventory>,
  findings: Diagnostic[],
): Inventory | undefined {
  if (test.inventory === undefined) return undefined;
  const file = resolve(dirname(yaml.file), test.inventory);
  try {
    const inventory = inventories.get(file) ?? readInventory(file);
    inventories.set(file, inventory);
    return inventory;
  } catch (error) {
    if (!(error instanceof InventoryError)) throw error;
    findings.push(yaml.finding([...path, 'inventory'], { message: error.message }));
    return undefined;
  }
}

/** Items that lack a field without which the service's answer could not be used. */
function incompleteItems(yaml: YamlFile, path: Path, { given = {} }: PolicyTest): Diagnostic[] {
  const lists = Object.entries(given as Given).filter(([id]) => listIds.some((list) => list === id));
  return lists.flatMap(([list, items]) => {
    const lists = Array.isArray(items)
      ? [{ at: [list], items: items as PartialItem[] }]
      : Object.entries(items as Record<string, PartialItem[]>).map(([id, own]) => ({
          at: [list, id],
          items: own,
        }));
    return lists.flatMap(({ at, items: own }) =>
      own.flatMap((item, index): Diagnostic[] => {
        const message = faultOf(list as ListId, item);
        return message === undefined ? [] : [yaml.finding([...path, 'given', ...at, index], { message })];
      }),
    );
  });
}
