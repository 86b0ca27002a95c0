/** `caretaker explain` knows every word that an operator meets, and its examples can be used. */
import { Environment } from '@marcbachmann/cel-js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { keyTopics } from '../../src/cli/explain/keys.ts';
import { errorTopics, operationTopics } from '../../src/cli/explain/topics.ts';
import { compileExpression } from '../../src/expression/expression.ts';
import { functionDocs } from '../../src/expression/function-docs.ts';
import { addAgo, addConversions, suggested } from '../../src/expression/functions.ts';
import { fieldsOfItem } from '../../src/job/fields.ts';
import { PolicyEntry } from '../../src/policy/policy-file.ts';
import { ConfigFile } from '../../src/settings/config-file.ts';
import { deskOfFile } from './desk-of-file.ts';

const desk = deskOfFile({});

const explained = (word: string) => desk.json<Record<string, unknown>[]>(['explain', word]);

describe('explain', () => {
  test('says of a reason what it means, what to do, and whether a retry may help', async () => {
    expect(await explained('unavailable')).toContainEqual({
      name: 'unavailable',
      kind: 'reason of an outcome',
      text: 'The service could not do it in any of the attempts allowed.',
      facts: {
        'what to do': 'Retry the run when the service answers again.',
        'a retry may help': 'yes, without another change',
      },
      example: null,
      details: null,
    });
  });

  test('says of an error code its exit code', async () => {
    const [code] = await explained('REDIS_UNREACHABLE');
    expect(code).toMatchObject({ kind: 'error code', facts: { 'exit code': '3' } });
  });

  test.each(['limits.concurrency', 'policies[0].limits.concurrency', 'Limits.Concurrency'])(
    'finds a key as %s',
    async (word) => {
      const [key, ...others] = await explained(word);
      expect(others).toEqual([]);
      expect(key).toMatchObject({
        ...{ name: 'limits.concurrency', kind: 'policy key', facts: { default: '20' } },
        example: 'limits:\n  concurrency: 20',
      });
    },
  );

  test('finds a key by its last part, in policies and in the configuration', async () => {
    const found = await explained('concurrency');
    expect(found.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['limits.concurrency', 'daemon.concurrency']),
    );
    expect((await explained('accounts.agency.token'))[0]).toMatchObject({ name: 'accounts.<name>.token' });
  });

  test('says of an operation its request, effect, cost and section, and of a job its options', async () => {
    const { stdout } = await desk.run(['explain', 'deletetag']);
    for (const part of ['DELETE /tags/{tag_id}', 'destructive: yes', 'one request', 'section 4.'])
      expect(stdout).toContain(part);
    expect((await explained('older_than'))[0]).toMatchObject({ kind: 'option of the job staging-cleanup' });
    expect((await explained('site-sync'))[0]).toMatchObject({ kind: 'job' });
  });

  test('suggests a word for one that it does not know, with exit code 2', async () => {
    const { code, stdout, stderr } = await desk.run(['explain', 'concurency']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Did you mean concurrency?');
  });

  test('lists every word', async () => {
    const { stdout } = await desk.run(['explain', '-o', 'csv']);
    for (const word of ['unknown-effect', 'INVALID_FILES', 'schedule.cron', 'syncSite', 'ago', 'site-sync'])
      expect(stdout).toMatch(new RegExp(`^${word},`, 'm'));
  });
});

test('every reason of the code can be explained', async () => {
  const { reasons } = await loadJobs();
  const topics = errorTopics();
  for (const [name, { text }] of reasons)
    expect(topics.find(name)).toContainEqual(expect.objectContaining({ kind: 'reason of an outcome', text }));
});

const anAddress = 'https://a.example/api/v6';
/** Variables whose values have another form than an address. */
const values: Record<string, string> = {
  OPS_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
};

test('every example of a key is accepted where it belongs', () => {
  const topics = keyTopics();
  const examples = [...new Set(topics.names())].flatMap((name) =>
    topics.find(name).filter((topic) => topic.name === name && topic.example !== undefined),
  );
  expect(examples.length).toBeGreaterThan(60);
  for (const { name, kind, example = '' } of examples) {
    // Variables are replaced before the keys are checked.
    const file = parse(example.replace(/\$\{(\w+)\}/g, (_, variable) => values[variable] ?? anAddress));
    const { error } =
      kind === 'policy key'
        ? PolicyEntry.safeParse({ name: 'p', job: 'site-sync', ...file })
        : ConfigFile.partial().safeParse(file);
    // A matrix is read before the rest of its policy.
    expect({ name, wrong: name.startsWith('matrix') ? undefined : error?.message }).toEqual({ name });
  }
});

test('every function that an expression can call is described, with an example that compiles', () => {
  const environment = new Environment({ unlistedVariablesAreDyn: true });
  addConversions(environment);
  addAgo(environment, { now: new Date() });
  const names = new Set([...suggested(environment).map(({ name }) => name), 're']);
  expect(Object.keys(functionDocs).sort()).toEqual([...names].filter((name) => /^[a-z]/i.test(name)).sort());
  const site = fieldsOfItem('listSites');
  for (const { example } of Object.values(functionDocs))
    expect(() => compileExpression(example, { site })).not.toThrow();
});

test('every operation is explained, and says what it takes', () => {
  const topics = operationTopics();
  for (const name of topics.names()) {
    const [topic] = topics.find(name);
    expect(topic?.facts['specification']).toMatch(/^section 4\.\d+/);
    expect(topic?.example).toContain(`caretaker api ${name}`);
  }
});
