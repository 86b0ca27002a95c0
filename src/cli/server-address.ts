import type { Io } from './io.ts';

/** The address of `--server` or CARETAKER_SERVER; undefined when the command works on this machine. */
export const serverAddress = ({ server }: { server?: string }, env: Io['env']): string | undefined =>
  server ?? (env['CARETAKER_SERVER'] || undefined);
