/** Intercepts calls of records, budget or client: delays, drops or observes one call. */
import type { Caretaker } from '../../src/app/caretaker.ts';
import { serviceAddress } from '../../src/contract/service-address.ts';
import type { EngineDeps } from '../../src/engine/deps.ts';

type ArgsOf<F> = F extends (...args: infer Args) => unknown ? Args : never;
type ResultOf<F> = F extends (...args: never) => infer Result ? Result : never;

/**
 * Lets `wrap` replace the calls of one method; `call` makes the real one. Other processes are not affected.
 */
export function around<Subject extends object, Name extends keyof Subject>(
  subject: Subject,
  name: Name,
  wrap: (
    call: () => ResultOf<Subject[Name]>,
    ...args: ArgsOf<Subject[Name]>
  ) => ResultOf<Subject[Name]> | Promise<never>,
): void {
  const real = (subject[name] as (...args: unknown[]) => ResultOf<Subject[Name]>).bind(subject);
  const wrapped = (...args: ArgsOf<Subject[Name]>) => wrap(() => real(...args), ...args);
  Object.assign(subject, { [name]: wrapped });
}

/**
 * Holds a call until the test releases it. A call that is never released simulates a process that died there.
 */
export interface Gate {
  /** Resolves at the first call. */
  readonly reached: Promise<void>;
  pass(): Promise<void>;
  open(): void;
}

export function aGate(): Gate {
  let arrive = () => {};
  let open = () => {};
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    reached,
    pass() {
      arrive();
      return opened;
    },
    open: () => open(),
  };
}

/** The engine's dependencies in an opened Caretaker, for a test that runs one step of it. */
export const partsOf = ({
  records,
  queues,
  registry,
  clock,
  log,
  owner,
  link,
  settings,
}: Caretaker): EngineDeps => ({
  records,
  queues,
  registry,
  clock,
  log,
  owner,
  link,
  addressOf: (account) => {
    const { baseUrl } = settings.accounts[account] ?? {};
    return baseUrl === undefined ? undefined : serviceAddress(baseUrl);
  },
});
