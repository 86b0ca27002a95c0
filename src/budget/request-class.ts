/** The classes of requests, most urgent first, and what the budget promises to each. */

/**
 * Why a request is sent: `person`, somebody waits for it; `control`, it finds out what became of a change, or
 * whether the service is back; `follow`, it follows work in the service; `action`, it does the work of a run.
 */
export const requestClasses = ['person', 'control', 'follow', 'action'] as const;
export type RequestClass = (typeof requestClasses)[number];

export interface ClassRule {
  /** The share of the spendable limit, 0 to 1, that the other classes leave to this one in every window. */
  share: number;
  /** Comes without notice: what it used in the window before says nothing about when it comes again. */
  bursty: boolean;
}

export const classRules: Record<RequestClass, ClassRule> = {
  person: { share: 0.12, bursty: true },
  control: { share: 0.02, bursty: true },
  follow: { share: 0.06, bursty: false },
  action: { share: 0.05, bursty: false },
};
