import { isoMinute } from '../../clock.ts';
import { showSite as show } from '../../control/commands/show-site.ts';
import { withReader } from '../client.ts';
import type { GlobalOptions } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { show as print } from '../output/show.ts';
import { type Terminal, table } from '../output/terminal.ts';

const columns = [
  ...['run', 'policy', 'created_at', 'target.id', 'target.label', 'target.outcome', 'target.reason'],
  'target.detail',
];

/** Shows one site: its open findings, and its results in the last runs. Asks the service nothing. */
export const showSite = (
  terminal: Terminal,
  site: string,
  options: GlobalOptions & { account?: string },
): Promise<number> =>
  withReader('records', terminal, options, async ({ read }) => {
    const { account } = options;
    const found = await read(show, { site, account }, () => {
      throw new UsageError('No run has worked on any site yet. "caretaker run <policy>" starts one.');
    });
    const { id, label, findings, runs } = found;
    const { paint, dataColumns } = terminal;
    const text = () => {
      terminal.data(`${paint('bold', label || id)} ${paint('dim', `${id}, account ${found.account}`)}`);
      terminal.data(paint('bold', 'Open findings'));
      if (findings.length === 0) terminal.data('  none');
      for (const one of findings)
        terminal.data(
          `  ${one.severity.padEnd('warning'.length)}  ${one.about}: ${one.message} (${one.policy}, since ${isoMinute(Date.parse(one.since))})`,
        );
      terminal.data(paint('bold', 'Results, newest first'));
      const rows = runs.map(({ run, created_at, target }) => [
        isoMinute(Date.parse(created_at)),
        run,
        target.id === id ? '' : target.label,
        target.outcome ?? target.state,
        target.reason ?? '',
        target.detail ?? '',
      ]);
      const heads = ['started', 'run', 'item', 'outcome', 'reason', 'detail'];
      const shrink = [
        { column: 5, min: 16 },
        { column: 2, min: 0 },
        { column: 5, min: 0 },
      ];
      terminal.data(table(heads, rows, paint, { columns: dataColumns, shrink }));
    };
    await print(terminal, options, { value: found, rows: runs, columns, text });
    return exit.ok;
  });
