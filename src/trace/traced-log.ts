/** Adds the id of its trace to the log lines of a run. */
import type { Log } from '../log.ts';
import type { Traces } from './traces.ts';

/** The same log; a line with a field `run` gets a field `trace_id`. */
export function tracedLog(log: Log, { traceOf }: Pick<Traces, 'traceOf'>): Log {
  const withTrace = (facts: object): object => {
    const trace_id = 'run' in facts && typeof facts.run === 'string' ? traceOf(facts.run) : undefined;
    return trace_id === undefined ? facts : { ...facts, trace_id };
  };
  const at = (level: 'debug' | 'info' | 'warn' | 'error') => (facts: object | string, message?: string) => {
    if (typeof facts === 'string') return log[level](facts);
    if (message === undefined) return log[level](withTrace(facts));
    log[level](withTrace(facts), message);
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (facts) => tracedLog(log.child(withTrace(facts)), { traceOf }),
  };
}
