import { fileFaultOf } from '../../errors.ts';
import { type FaultRates, parseFaults } from '../../sandbox/faults/names.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { parseDuration } from '../../yaml/duration.ts';
import { exit, UsageError } from '../exit.ts';
import { untilSignal } from '../interruption.ts';
import type { Terminal } from '../output/terminal.ts';

interface Options {
  host: string;
  port: number;
  sites: number;
  seed: number;
  token: string;
  speed: number;
  clockOffset: string;
  listLag: string;
  dateHeader: boolean;
  rateLimit: number;
  window: string;
  faults?: string;
  state?: string;
}

/** Serves the sandbox until it is stopped by a signal. */
export async function sandbox(terminal: Terminal, options: Options): Promise<number> {
  const windowMs = parseDuration(options.window);
  if (windowMs === undefined)
    throw new UsageError(`--window must be a duration such as 60s, not "${options.window}".`);
  if (!(options.speed > 0)) throw new UsageError('--speed must be a number greater than 0.');
  const clockOffsetMs = signedDuration(options.clockOffset);
  if (clockOffsetMs === undefined)
    throw new UsageError(
      `--clock-offset must be a duration such as 7m or -7m, not "${options.clockOffset}".`,
    );
  const listLagMs = parseDuration(options.listLag);
  if (listLagMs === undefined)
    throw new UsageError(`--list-lag must be a duration such as 3s, not "${options.listLag}".`);
  const { host, port, sites, seed, token, speed, rateLimit, state, dateHeader } = options;
  if (token === '') throw new UsageError('--token must not be empty: every request must carry the token.');
  const faults = faultsIn(options.faults ?? '');
  const service = await listening(
    startSandbox({
      ...{
        host,
        port,
        sites,
        seed,
        token,
        speed,
        rateLimit,
        windowMs,
        faults,
        clockOffsetMs,
        listLagMs,
        dateHeader,
      },
      ...(state !== undefined && { state }),
    }),
    host,
    port,
  );
  const signalled = untilSignal(terminal.io);
  terminal.data(`listening ${service.url}`);
  terminal.message('To use it, in another terminal:');
  // A server that listens on all addresses is reached on the loopback address.
  const here = service.url.replace(/\/\/(0\.0\.0\.0|\[::\])(?=:)/, '//127.0.0.1');
  // With records of its own: those of an account belong to one service.
  const values = `CARETAKER_BASE_URL=${here} CARETAKER_API_TOKEN=${token} CARETAKER_DATA_DIR=.caretaker/sandbox`;
  terminal.message(`  export ${values}`, 'values-only');
  terminal.message(`Journal of all requests: ${new URL('/__sandbox/journal', here)}. Press Ctrl-C to stop.`);
  await signalled;
  await service.stop();
  return exit.ok;
}

function signedDuration(text: string): number | undefined {
  if (!text.startsWith('-')) return parseDuration(text);
  const ms = parseDuration(text.slice(1));
  return ms === undefined ? undefined : -ms;
}

function faultsIn(text: string): FaultRates {
  try {
    return parseFaults(text);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message);
    throw error;
  }
}

const listenErrors = {
  EADDRINUSE: 'Port :port is in use. Choose another one with --port, or 0 for any free port.',
  EACCES: 'This user may not use port :port. Choose a port above 1023 with --port.',
  EADDRNOTAVAIL:
    'This machine has no address :host. --host must be an address of this machine, such as 127.0.0.1.',
  ENOTFOUND:
    'The host name :host cannot be resolved. --host must be an address of this machine, such as 127.0.0.1.',
  EAI_AGAIN:
    'The host name :host cannot be resolved. --host must be an address of this machine, such as 127.0.0.1.',
};

async function listening<T>(start: Promise<T>, host: string, port: number): Promise<T> {
  try {
    return await start;
  } catch (error) {
    const { code, syscall } = error as { code?: keyof typeof listenErrors; syscall?: string };
    const why = code && (syscall === 'listen' || syscall === 'getaddrinfo') ? listenErrors[code] : undefined;
    if (syscall === 'open' || syscall === 'read')
      throw new UsageError(`The file of --state cannot be read or written: ${fileFaultOf(error)}.`);
    if (why) throw new UsageError(why.replace(':port', String(port)).replace(':host', host));
    throw error;
  }
}
