import { type Incomplete, sayIncomplete } from '../../client/pages.ts';
import type { Terminal } from './terminal.ts';

/** Says of a list that fewer items arrived than the service counts. */
export const warnIncomplete =
  (terminal: Terminal) =>
  (incomplete: Incomplete): void =>
    terminal.message(`${terminal.paint('yellow', 'warning')}: ${sayIncomplete(incomplete)}`);
