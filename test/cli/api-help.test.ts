/** What `caretaker api` says of an operation before anything is sent, and of what does not fit it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeOperation } from '../../src/cli/output/describe-operation.ts';
import { type OperationId, operationOf, operations } from '../../src/contract/operations.ts';
import { type Desk, openDesk } from '../support/cli.ts';

let desk: Desk;
beforeAll(() => {
  // Nobody listens there: whatever is told is told without asking.
  desk = openDesk({ CARETAKER_BASE_URL: 'http://127.0.0.1:9/api/v6', CARETAKER_API_TOKEN: 't' });
});
afterAll(() => desk.clear());

test('--help of an operation tells its parameters, filters with operators and values, sorts and an example', async () => {
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
  const { stdout: json } = await desk.run(['api', 'createTag', '--describe', '--json']);
  expect(JSON.parse(json)).toMatchObject({ method: 'POST', path: '/tags', requestBody: { required: true } });
});

test.each(Object.keys(operations) as OperationId[])('%s can be described, with everything it takes', (id) => {
  const told = describeOperation(id);
  for (const field of Object.keys(operationOf(id).list?.filters ?? {})) expect(told).toContain(`  ${field}:`);
  expect(told).not.toContain('undefined');
});

test('--list with a word lists what has it in name or path', async () => {
  const { stdout } = await desk.run(['api', '--list', 'TAG', '--json']);
  const found: { id: string; path: string }[] = JSON.parse(stdout);
  expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining(['listTags', 'createTag']));
  for (const { id, path } of found) expect(`${id} ${path}`).toMatch(/tag/i);
});

test.each([
  { args: ['--list', 'nothing-like-it'], says: 'There is no operation "nothing-like-it"' },
  { args: ['listSite'], says: 'did you mean listSites?' },
  { args: ['listSites', '--all', '--param', 'page=2'], says: '--all reads every page: remove page' },
  { args: ['showTag', '--all', '--param', 'tag_id=1'], says: 'showTag is no list' },
  { args: ['listSites', '--output', 'x.pdf'], says: 'listSites does not return a PDF' },
  { args: ['downloadReport', '--param', 'report_id=1'], says: 'say where to put it with --output' },
  { args: ['showSite'], says: 'showSite: site_id is missing.' },
  { args: ['showSite', '--param', 'sit_id=1'], says: 'sit_id is not taken here, did you mean site_id?' },
  { args: ['listSites', '--filter', 'conection_status:eq=x'], says: 'did you mean connection_status?' },
  { args: ['listSites', '--filter', 'connection_status:eq=conected'], says: 'did you mean connected?' },
  {
    args: ['listSites', '--filter', 'url:eq=x'],
    says: '"url" does not support the operator "eq", available: contains',
  },
  { args: ['listSites', '--sort', 'ulr,asc'], says: 'cannot sort by "ulr", did you mean url?' },
  { args: ['listSites', '--param', 'page=two'], says: 'page is a whole number from 1.' },
])('$args: exit 2, what is wrong, and nothing is sent', async ({ args, says }) => {
  const { code, stdout, stderr } = await desk.run(['api', ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(says);
  expect(stderr).not.toMatch(/\?\.|\.\./);
});

test('a PDF is not written over a file', async () => {
  writeFileSync(join(desk.folder, 'mine.pdf'), 'mine');
  const args = ['api', 'downloadReport', '--param', 'report_id=1', '--output', 'mine.pdf'];
  const { code, stderr } = await desk.run(args);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'error: mine.pdf exists already: --output must name a new file.\n',
  });
});
