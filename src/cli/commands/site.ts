import { isoMinute } from '../../clock.ts';
import { showSite as show } from '../../control/commands/show-site.ts';
import { withReader } from '../client.ts';
import type { GlobalOptions } from '../context.ts';
import { UsageError } from '../exit.ts';
import { type List, showList } from '../output/list.ts';
import type { Terminal } from '../output/terminal.ts';

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
    const { paint } = terminal;
    const rows = runs.map((one) => ({ ...one, site: id }));
    const above = () => {
      terminal.data(`${paint('bold', label || id)} ${paint('dim', `${id}, account ${found.account}`)}`);
      terminal.data(paint('bold', 'Open findings'));
      if (findings.length === 0) terminal.data('  none');
      for (const one of findings)
        terminal.data(
          `  ${one.severity.padEnd('warning'.length)}  ${one.about}: ${one.message} (${one.policy}, since ${isoMinute(one.since)})`,
        );
      terminal.data(paint('bold', 'Results, newest first'));
    };
    return showList(terminal, options, list, { rows, value: found, lines: runs, above });
  });

type Result = ReturnType<(typeof show)['toAnswer']>['runs'][number] & { site: string };

const list: List<Result> = {
  table: {
    started: ({ created_at }) => isoMinute(created_at),
    run: ({ run }) => run,
    item: ({ target, site }) => (target.id === site ? '' : target.label),
    outcome: ({ target }) => target.outcome ?? target.state,
    reason: ({ target }) => target.reason,
    detail: ({ target }) => target.detail,
  },
  shrink: ['detail: 16', 'item: 0', 'detail: 0'],
  csv: ['run policy created_at target.id target.label target.outcome target.reason target.detail'],
};
