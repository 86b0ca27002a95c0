/** What `showPage` provides for every component: who reads, when, and the reasons with their sentences. */
import { createContext, useContext } from 'hono/jsx';
import { isPermitted, type Principal, type Role, type Subject } from '../../access/principal.ts';
import type { Reason, Reasons } from '../../run/reasons.ts';
import type { Run } from '../../run/run.ts';
import { runEndOf } from '../../run/run-end.ts';
import type { Alert } from '../queries/system-status.ts';

/** Who reads the page; the layout provides it. */
export const PrincipalContext = createContext<Principal | undefined>(undefined);

/** Whether the reader may do this: what no one may do has no button. */
export function useMay(): (role: Role, subject: Subject) => boolean {
  const principal = useContext(PrincipalContext);
  return (role, subject) => principal !== undefined && isPermitted(principal, role, subject);
}

/** When the page is made, from which relative times count. */
export const NowContext = createContext(0);
export const useNow = (): number => useContext(NowContext);

/** What blocks work, the worst first; `showPage` provides it. */
export const AlertsContext = createContext<readonly Alert[]>([]);

/**
 * When a run ends; undefined while that is not known. No end is predicted while no process works, or Redis or a queue
 * stops work.
 */
export function useRunEnd(run: Run): number | 'stopped' | undefined {
  const at = runEndOf(run, useNow())?.at;
  const [worst] = useContext(AlertsContext);
  return at !== undefined && worst?.is === 'failed' ? 'stopped' : at;
}

/** The reasons with their sentences; `showPage` provides them. */
export const ReasonsContext = createContext<Reasons>(new Map());

/** A reason code with its sentence. */
export const Why = ({ reason }: { reason: Reason }) => (
  <>
    <code>{reason}</code> <span class="dim">{useContext(ReasonsContext).get(reason)?.text ?? ''}</span>
  </>
);
