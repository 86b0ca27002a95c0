/** Warnings of `caretaker validate`: each once, for everything that shares its cause. */
import { describe, expect, test } from 'vitest';
import { read } from './p.ts';

/** `<<vars.x>>` stands for a placeholder. */
const placeholders = (text: string) => text.replaceAll('<<', '$' + '{{ ').replaceAll('>>', ' }}');

const load = (file: string) => read(placeholders(file));

describe('variables that no policy uses', () => {
  test('are a warning at their place in the file', () => {
    const { policies, warnings } = load(
      [
        'vars:',
        '  used: hello',
        '  region: eu',
        'policies:',
        '  - { name: p, job: site-sync, description: "<<vars.used>>" }',
      ].join('\n'),
    );
    expect(policies).toHaveLength(1);
    expect(warnings).toMatchObject([
      {
        line: 3,
        message: 'No policy of this file uses vars.region.',
        suggestion: placeholders('remove it, or use it as <<vars.region>>'),
        policies: [],
      },
    ]);
  });

  test('a variable that is used only by an unused one is unused as well', () => {
    const { warnings } = load(
      'vars: { a: x, b: "<<vars.a>>", c: y, d: "<<vars.c>>" }\npolicies: [{ name: p, job: site-sync, description: "<<vars.d>>" }]',
    );
    expect(warnings.map(({ message }) => message)).toEqual([
      'No policy of this file uses vars.a.',
      'No policy of this file uses vars.b.',
    ]);
  });

  test('are not reported while a placeholder of the file is wrong', () => {
    const { findings, warnings } = load(
      'vars: { region: eu }\npolicies: [{ name: p, job: site-sync, description: "<<vars.regoin>>" }]',
    );
    expect(findings).toHaveLength(1);
    expect(warnings).toEqual([]);
  });
});

describe('a warning that several policies share', () => {
  const matrix = (limits: string) =>
    `policies:
  - name: p
    job: site-sync
    matrix: { size: ${limits} }
    select: { limit: "<<matrix.size>>" }
    limits: { max_targets: 10 }
`;

  test('of a matrix is shown once, with all its policies', () => {
    const { warnings } = load(
      'policies:\n  - { name: p, job: site-sync, matrix: { tag: [a, b, c] }, with: { message: "<<matrix.tag>>" }, select: { limit: 20 }, limits: { max_targets: 10 } }',
    );
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.policies).toEqual(['p-a', 'p-b', 'p-c']);
    expect(warnings[0]?.message).not.toContain('tag');
  });

  test('names the combination when it depends on its values', () => {
    const { warnings } = load(matrix('[5, 20]'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatchObject({
      policies: ['p-20'],
      message: expect.stringContaining('matrix.size'),
    });
  });
});

test('a schedule whose days are rarer than they look is a warning at its expression', () => {
  const { policies, warnings } = load(
    'policies: [{ name: p, job: site-sync, schedule: { cron: ["0 2 * * *", "0 2 31 * *"] } }]',
  );
  expect(policies).toHaveLength(1);
  expect(warnings).toMatchObject([
    { path: 'policies[0].schedule.cron[1]', message: 'Day 31 exists in 7 months of 12.', policies: ['p'] },
  ]);
});
