/** `caretaker api`: the description of an operation, and errors that are found before anything is sent. */
import { expect, test } from 'vitest';
import { describeOperation } from '../../src/cli/output/describe-operation.ts';
import { type OperationId, operationOf, operations } from '../../src/contract/operations.ts';
import { deskOfFile } from './desk-of-file.ts';

const desk = deskOfFile();

test('--help of an operation shows its parameters, filters with operators and values, sorts and an example', async () => {
  const { code, stdout } = await desk.run(['api', 'listSites', '--help']);

  expect(code).toBe(0);
  expect(stdout).toMatch(/^listSites: GET \/sites$/m);
  expect(stdout).toMatch(/^ {2}connection_status:eq +one of connected, disconnected$/m);
  expect(stdout).toMatch(/^ {2}php_version:eq\|gt\|lt +version$/m);
  expect(stdout).toContain('default created_at,desc');
  expect(stdout).toContain('caretaker api listSites --filter connection_status:eq=connected');
  expect((await desk.run(['api', 'listSites', '--describe'])).stdout).toBe(stdout);
});

test('--help of an operation with a body shows its shape', async () => {
  const { stdout } = await desk.run(['api', 'createTag', '-h']);
  expect(stdout).toMatch(/"name": string,\n +"color": string \(optional\)/);
  expect(await desk.json(['api', 'createTag', '--describe'])).toMatchObject({
    ...{ method: 'POST', path: '/tags', requestBody: { required: true } },
  });
});

test.each(Object.keys(operations) as OperationId[])('%s can be described, with all its parameters', (id) => {
  const told = describeOperation(id);
  for (const field of Object.keys(operationOf(id).list?.filters ?? {})) expect(told).toContain(`  ${field}:`);
  expect(told).not.toContain('undefined');
});

test('--list with a word lists the operations that have it in their name or path', async () => {
  const found = await desk.json<{ id: string; path: string }[]>(['api', '--list', 'TAG']);
  expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining(['listTags', 'createTag']));
  for (const { id, path } of found) expect(`${id} ${path}`).toMatch(/tag/i);
});

test.each([
  { args: ['--list', 'nothing-like-it'], says: 'There is no operation "nothing-like-it"' },
  { args: ['listSite'], says: 'did you mean listSites?' },
  {
    args: ['listSites', '--all', '--param', 'page=2'],
    says: '--all reads every page, so page and perPage do not apply',
  },
  { args: ['showTag', '--all', '--param', 'tag_id=1'], says: 'showTag does not return a list' },
  { args: ['listSites', '--file', 'x.pdf'], says: 'listSites does not return a PDF' },
  { args: ['downloadReport', '--param', 'report_id=1'], says: 'Name the file to write with --file' },
  { args: ['showSite'], says: 'showSite: site_id is missing.' },
  { args: ['showSite', '--param', 'sit_id=1'], says: 'sit_id is not taken here, did you mean site_id?' },
  { args: ['listSites', '--filter', 'conection_status:eq=x'], says: 'did you mean connection_status?' },
  { args: ['listSites', '--filter', 'colour:eq=red'], says: 'cannot filter by "colour"' },
  { args: ['listSites', '--filter', 'connection_status:eq=conected'], says: 'did you mean connected?' },
  {
    args: ['listSites', '--filter', 'url:eq=x'],
    says: '"url" does not support the operator "eq", available: contains',
  },
  { args: ['listSites', '--sort', 'ulr,asc'], says: 'cannot sort by "ulr", did you mean url?' },
  { args: ['listSites', '--param', 'page=two'], says: 'page is a whole number from 1.' },
])('$args: exit 2, the error is named, and nothing is sent', async ({ args, says }) => {
  const { code, stdout, stderr } = await desk.run(['api', ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(says);
  expect(stderr).not.toMatch(/\?\.|\.\./);
});

test('a PDF does not overwrite a file', async () => {
  desk.write('mine.pdf', 'mine');
  const args = ['api', 'downloadReport', '--param', 'report_id=1', '--file', 'mine.pdf'];
  const { code, stderr } = await desk.run(args);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'error: mine.pdf already exists. --file must name a new file.\n',
  });
});
