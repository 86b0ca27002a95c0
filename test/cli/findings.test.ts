import { expect, test } from 'vitest';
import { formatFindings } from '../../src/cli/output/findings.ts';
import { openTerminal } from '../../src/cli/output/terminal.ts';
import { aTarget } from '../support/builders.ts';
import { TestIo } from '../support/io.ts';

const target = aTarget('s-1', {
  label: 'Plugins',
  ...{ state: 'ended', outcome: 'skipped', reason: 'schedule-paused', finishedAt: 1 },
  detail: 'It is paused.',
  findings: [
    { severity: 'warning', about: 'schedule', message: 'It is paused.' },
    { severity: 'error', about: 'a.example', message: 'Failed at check: Disk full.' },
    { severity: 'info', about: 'long.example', message: 'Updated: Shop 9.1 → 9.2.' },
  ],
});

test('findings are printed by target, and those of severity info only if all are requested', () => {
  const terminal = { ...openTerminal(new TestIo()), paint: (_: unknown, text: string) => text };
  const quiet = { ...target, id: 's-2', findings: [] };

  expect(formatFindings([target, quiet], terminal, { all: false })).toBe(
    ['Plugins s-1', '  error    a.example  Failed at check: Disk full.'].join('\n'),
  );
  expect(formatFindings([target], terminal, { all: true })).toBe(
    [
      'Plugins s-1',
      '  error    a.example     Failed at check: Disk full.',
      '  info     long.example  Updated: Shop 9.1 → 9.2.',
    ].join('\n'),
  );
  expect(formatFindings([quiet], terminal, { all: true })).toBeUndefined();
});
