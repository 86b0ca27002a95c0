/** Which files of a folder are read, and what becomes of policies that are in several of them. */
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { folderWith } from '../settings/folder.ts';
import { load as loadSettings } from '../settings/load.ts';
import { policyWith, read } from './p.ts';
import { registry } from './tiny-job.ts';

test('a broken policy is left out and the good ones are there', () => {
  const { policies, findings } = read({
    'b.yml': 'policies:\n  - { name: one, job: site-sync }\n  - { name: two, job: site-sink }\n',
    'a.yaml': 'policies: [{ name: three, job: site-sync }]\n',
    'broken.yaml': 'policies: [\n',
  });

  expect(policies.map(({ name }) => name)).toEqual(['three', 'one']);
  expect(findings.map(({ message, suggestion }) => [message, suggestion])).toEqual([
    ['There is no job "site-sink".', 'did you mean site-sync?'],
    [expect.stringContaining('This is not valid YAML'), undefined],
  ]);
});

test.each([
  ['', 'delete the file if that is meant'],
  ['# nothing yet\n', 'delete the file if that is meant'],
  ['policies: []\n', 'delete the file, because others hold policies'],
  ['---\n', 'delete the file if that is meant'],
])('a file that holds %j is a mistake, so that no policy is lost unnoticed', (text, suggestion) => {
  const { findings } = read({ 'a.yaml': policyWith(''), 'emptied.yaml': text });
  expect(findings).toMatchObject([{ line: 1, message: 'The file holds no policy.', suggestion }]);
});

test('the only file says with an empty list that there are no policies', () => {
  expect(read('policies: []\n')).toMatchObject({ findings: [], policies: [] });
  expect(read('# nothing\n').findings).toMatchObject([
    { suggestion: 'to have no policies, write the line policies: []' },
  ]);
});

test('folders and other files among the policies are told, those for others are not', () => {
  const { dir, policies, findings, ignored } = read({
    'a.yaml': policyWith(''),
    'b.yml': policyWith('').replace('name: p', 'name: q'),
    'more/c.yaml': policyWith(''),
    'd.json': '{}',
    'e.yaml.bak': '',
    '.hidden.yaml': '',
    'README.md': '',
  });
  expect(policies.map(({ name }) => name)).toEqual(['p', 'q']);
  expect(findings).toEqual([]);
  expect(ignored).toEqual([join(dir, 'd.json'), join(dir, 'e.yaml.bak'), join(dir, 'more/')]);
});

test('a file that is named twice is read once, a folder stands for its files, and the config is no policy file', () => {
  const settings = loadSettings('', {}, { 'config/policies/a.yaml': policyWith('') });
  const dir = settings.policiesDir;
  const file = join(dir, 'a.yaml');
  const files = [file, join(dir, '../policies/a.yaml'), dir, settings.file ?? ''];

  const { policies, findings } = loadPolicies({ dir: '.', files, registry, settings });

  expect(policies.map((policy) => policy.file)).toEqual([file]);
  expect(findings).toEqual([]);
});

test('of two policies with one name the second is refused and told where the first stands', () => {
  const { dir, policies, findings } = read({
    'a.yaml': 'policies: [{ name: twin, job: site-sync, description: first }]\n',
    'b.yaml': 'policies:\n  - name: twin\n    job: site-sync\n',
  });

  expect(policies.map(({ description }) => description)).toEqual(['first']);
  expect(findings).toMatchObject([
    { line: 2, column: 11, message: `The name "twin" is taken already, in ${join(dir, 'a.yaml')}:1:20.` },
  ]);
});

test('of two files with one name the newer is blamed, wherever it stands: a copy replaces nothing', () => {
  const dir = folderWith({
    'a-copy.yaml': 'policies: [{ name: twin, job: site-sync, description: copy }]\n',
    'b.yaml': 'policies: [{ name: twin, job: site-sync, description: old }]\n',
  });
  utimesSync(join(dir, 'b.yaml'), 1_000_000, 1_000_000);

  const { policies, findings } = loadPolicies({ dir, registry });

  expect(policies.map(({ description }) => description)).toEqual(['old']);
  expect(findings.map(({ file }) => file)).toEqual([join(dir, 'a-copy.yaml')]);
});

test('only the files that are asked for are read', () => {
  const dir = folderWith({ 'a.yaml': policyWith(''), 'b.yaml': 'policies: 3\n' });
  const { policies, findings } = loadPolicies({ dir, files: [join(dir, 'a.yaml')], registry });
  expect([policies.length, findings.length]).toEqual([1, 0]);
});

test('a file or folder that is not there is a finding', () => {
  const files = loadPolicies({ dir: '/none', files: ['/none/a.yaml'], registry });
  expect(files.findings).toMatchObject([{ file: '/none/a.yaml', message: 'The file does not exist.' }]);
  const folder = loadPolicies({ dir: '/none', registry });
  expect(folder.findings).toMatchObject([{ file: '/none', suggestion: expect.stringMatching(/^mount it/) }]);
});
