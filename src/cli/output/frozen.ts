import { type Freeze, formatFreeze } from '../../records/freeze-store.ts';
import type { Terminal } from './terminal.ts';

/** Says that everything is frozen, if it is: whoever looks at policies or runs would wonder. */
export function sayFrozen(freeze: Freeze | undefined, { paint, say }: Terminal): void {
  if (!freeze) return;
  say(
    `${paint('yellow', 'No run starts')}: everything is ${formatFreeze(freeze)}. "caretaker unfreeze" ends the freeze.`,
  );
}
