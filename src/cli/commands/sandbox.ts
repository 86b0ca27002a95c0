import { type FaultRates, parseFaults } from '../../sandbox/faults/names.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { parseDuration } from '../../settings/duration.ts';
import { exit, UsageError } from '../exit.ts';
import { untilSignal } from '../signals.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  host: string;
  port: number;
  sites: number;
  seed: number;
  token: string;
  speed: number;
  rateLimit: number;
  window: string;
  faults?: string;
  state?: string;
}

/** Serves the sandbox until it is told to stop. */
export async function sandbox(terminal: Terminal, options: Options): Promise<number> {
  const windowMs = parseDuration(options.window);
  if (windowMs === undefined)
    throw new UsageError(`--window takes a duration such as 60s, not "${options.window}".`);
  if (!(options.speed > 0)) throw new UsageError('--speed takes a number above 0.');
  const { host, port, sites, seed, token, speed, rateLimit, state } = options;
  const faults = faultsIn(options.faults ?? '');
  const service = await listening(
    startSandbox({
      ...{ host, port, sites, seed, token, speed, rateLimit, windowMs, faults },
      ...(state !== undefined && { state }),
    }),
    port,
  );
  terminal.data(`listening ${service.url}`);
  terminal.say('To use it, in another terminal:');
  terminal.say(`  export CARETAKER_BASE_URL=${service.url} CARETAKER_API_TOKEN=${token}`);
  terminal.say(`What it saw: ${new URL('/__sandbox/journal', service.url)}   Ctrl-C ends it.`);
  await untilSignal();
  await service.stop();
  return exit.ok;
}

function faultsIn(text: string): FaultRates {
  try {
    return parseFaults(text);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message);
    throw error;
  }
}

async function listening<T>(start: Promise<T>, port: number): Promise<T> {
  try {
    return await start;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'EADDRINUSE')
      throw new UsageError(`Port ${port} is in use: choose another with --port, or 0 for any.`);
    throw error;
  }
}
