// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how placeholders are written in policy files.
/** Policies of a file with `defaults`, `vars` and `matrix`, on the command line. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { deskOfFile } from './desk-of-file.ts';

const desk = deskOfFile({});
desk.write(
  'config/policies/shared.yaml',
  `vars: { zone: Europe/Berlin, tags: [Gold, silver] }
defaults: { job: site-sync, schedule: { timezone: "\${{ vars.zone }}" } }
policies:
  - name: sync
    matrix: { tag: "\${{ vars.tags }}" }
    schedule: { cron: "0 2 * * *", jitter: 5m }
    with: { message: "For \${{ matrix.tag }}, not $\${{ vars.zone }}" }
`,
);

test('policies show --expanded prints a file that is read as the same policy', async () => {
  const shown = await desk.run(['policies', 'show', 'sync-gold', '--expanded']);
  expect(shown.code).toBe(0);
  expect(shown.stdout).toMatch(/^policies:\n {2}- name: sync-gold\n/);
  expect(shown.stdout).not.toMatch(/matrix:|defaults:|^#/m);

  desk.write('shown.yaml', shown.stdout);
  const registry = await loadJobs();
  const read = (file: string) => loadPolicies({ dir: '', files: [join(desk.folder, file)], registry });
  const [again] = read('shown.yaml').policies;
  const own = read('config/policies/shared.yaml').policies.find(({ name }) => name === 'sync-gold');
  expect(again?.hash).toBe(own?.hash);
  expect(again?.options).toMatchObject({ message: 'For Gold, not ${{ vars.zone }}' });

  expect(await desk.json(['policies', 'show', 'sync-gold', '--expanded'])).toMatchObject({
    policies: [{ name: 'sync-gold', schedule: { jitter: '5m' } }],
  });
});

test('validate counts the policies of a matrix, and shows an unknown variable at its place', async () => {
  const ok = await desk.run(['validate', 'config/policies/shared.yaml']);
  expect([ok.code, ok.stderr]).toEqual([0, expect.stringContaining('and 2 policies.')]);

  desk.write(
    'broken.yaml',
    `vars: { zone: UTC }
policies:
  - { name: one, job: site-sync, schedule: { cron: "0 2 * * *", timezone: "\${{ vars.zoen }}" } }
`,
  );
  const { code, stderr } = await desk.run(['validate', 'broken.yaml']);
  expect(code).toBe(2);
  expect(stderr).toContain('broken.yaml:3:76: There is no "zoen" in vars. Did you mean zone?');
  expect(stderr).toContain('> 3 |   - { name: one');
});
