/**
 * Getting between a process and what it works with: one call of records, budget or client is held up, lost or
 * watched.
 */
import type { Caretaker } from '../../src/app/caretaker.ts';
import type { EngineDeps } from '../../src/engine/deps.ts';

type ArgsOf<F> = F extends (...args: infer Args) => unknown ? Args : never;
type ResultOf<F> = F extends (...args: never) => infer Result ? Result : never;

/**
 * Has `wrap` decide what becomes of the calls of one method; `call` makes the real one. Other processes see
 * nothing of it.
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
 * Where a call is held up until the test lets it go on; one that is never let go on is a process that died
 * there.
 */
export interface Gate {
  /** Resolves when the first call has come. */
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

/** What the engine of an opened Caretaker works with, for a test that carries out one step of it alone. */
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
  serves: (account) => settings.accounts[account] !== undefined,
});
