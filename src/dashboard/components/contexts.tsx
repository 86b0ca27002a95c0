/** What `showPage` provides for every component: who reads, when, and the reasons with their sentences. */
import { createContext, useContext } from 'hono/jsx';
import { isPermitted, type Principal, type Role, type Subject } from '../../access/principal.ts';
import type { Reason, Reasons } from '../../run/reasons.ts';

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

/** The reasons with their sentences; `showPage` provides them. */
export const ReasonsContext = createContext<Reasons>(new Map());

/** A reason code with its sentence. */
export const Why = ({ reason }: { reason: Reason }) => (
  <>
    <code>{reason}</code> <span class="dim">{useContext(ReasonsContext).get(reason)?.text ?? ''}</span>
  </>
);
