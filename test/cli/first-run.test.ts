/** What a newcomer reads: the files that `init` writes, and why a first run over the sandbox is partial. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, resolve, sep } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { memoryFolder } from '../support/in-memory.ts';
import { sandboxOfFile } from './desk-of-file.ts';

const shipped = resolve(import.meta.dirname, '../../config');
const { sandbox, desk } = await sandboxOfFile({ sites: 4, speed: 100 });
const folder = mkdtempSync(join(memoryFolder(), 'caretaker-first-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('init', () => {
  test('writes the schemas, and a README whose commands there are', async () => {
    const { code, stdout } = await desk.run(['init'], {}, folder);

    expect(code).toBe(0);
    for (const kind of ['policy', 'config', 'tests'])
      expect(JSON.parse(readFileSync(join(folder, `config/schemas/${kind}.json`), 'utf8'))).toEqual(
        JSON.parse((await desk.run(['schema', kind])).stdout),
      );
    expect(stdout).toContain('written  README.md');
    for (const [, command = ''] of readFileSync(join(folder, 'README.md'), 'utf8').matchAll(
      /caretaker ([a-z]+(?: (?:diff|save))?)/g,
    ))
      expect((await desk.run(['help', ...command.split(' ')])).code).toBe(0);
  });

  test('writes no file that names another one that is not there', () => {
    const named = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(yaml|md|json)$/.test(file))
      .flatMap((file) =>
        [
          ...readFileSync(join(folder, file), 'utf8').matchAll(
            /(?<![\w/.:*-])(?:[\w.-]+\/)+[\w.-]*\.(?:ts|md|yaml|json)\b|\b(?:docs|jobs|src)\//g,
          ),
        ].map(([path]) => ({ file, path })),
      );
    expect(named.length).toBeGreaterThan(1);
    const isThere = ({ file, path }: { file: string; path: string }) =>
      [folder, dirname(join(folder, file))].some((from) => existsSync(join(from, path)));
    expect(named.filter((one) => !isThere(one))).toEqual([]);
  });

  test('writes only outdated schemas again', async () => {
    writeFileSync(join(folder, 'config/schemas/tests.json'), '{}\n');
    writeFileSync(join(folder, 'README.md'), 'mine\n');

    const { stdout } = await desk.run(['init'], {}, folder);

    expect(stdout).toContain('kept     config/schemas/policy.json (unchanged)');
    expect(stdout).toContain('written  config/schemas/tests.json');
    expect(stdout).toContain('kept     README.md (already exists)');
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toBe('mine\n');
  });

  test('"schema --write" writes the schemas into any folder', async () => {
    const { code, stdout } = await desk.run(['schema', '--write', 'editor/schemas']);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('written ') });
    expect(existsSync(join(desk.folder, 'editor/schemas/policy.json'))).toBe(true);
    expect((await desk.run(['schema', 'policy', '--write', 'x'])).code).toBe(2);
  });

  test('every shipped file names its schema, examples too', () => {
    const yaml = readdirSync(shipped, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.yaml'),
    );
    for (const file of yaml) {
      const path = join(shipped, file);
      const [, schema = ''] =
        /^# yaml-language-server: \$schema=(\S+)\n/.exec(readFileSync(path, 'utf8')) ?? [];
      const [folder = ''] = file.split(sep);
      const kind = folder === 'tests' ? 'tests' : folder === 'caretaker.yaml' ? 'config' : 'policy';
      expect({ file, schema: resolve(dirname(path), schema) }).toEqual({
        ...{ file, schema: join(shipped, `schemas/${kind}.json`) },
      });
    }
  });
});

describe('a run in which targets failed', () => {
  desk.write(
    'config/policies/impossible.yaml',
    `policies:
  - { name: impossible, job: api-call, select: { from: listSites }, with: { operation: createSiteCustomWorks, body: { custom_works: [{ title: Work, performed_on: "2099-01-01" }] } } }
`,
  );

  test('says why it is not successful, and that the sandbox is made that way', async () => {
    const { stderr } = await desk.run(['run', 'impossible']);
    expect(stderr).toMatch(/The run is failed because \d of \d targets failed: \d rejected|gone/);
    expect(stderr).toMatch(/"caretaker explain (rejected|gone)" shows what to do\./);
    expect(stderr).toContain('The account is the sandbox');
  });

  test('says nothing of a sandbox when the service does not name itself as one', async () => {
    const { hostname, port } = new URL(sandbox.url);
    const proxy = createServer((incoming, outgoing) => {
      const { method = '', url = '', headers } = incoming;
      incoming.pipe(
        request({ hostname, port, method, path: url, headers }, (answer) => {
          const { server: _, ...others } = answer.headers;
          outgoing.writeHead(answer.statusCode ?? 500, others);
          answer.pipe(outgoing);
        }),
      );
    });
    await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/api/v6`;

    const there = { CARETAKER_BASE_URL: url };
    await desk.run(['accounts', 'move', 'default', '--yes'], there);
    const { stderr } = await desk.run(['run', 'impossible'], there);

    proxy.close();
    expect(stderr).toContain('The run is failed because');
    expect(stderr).not.toContain('sandbox');
  });
});
