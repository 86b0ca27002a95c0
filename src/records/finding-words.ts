/** The words of findings, for the command line, which must not load what reads them. */

/** The most severe first. */
export const severities = ['error', 'warning', 'info'] as const;
export type Severity = (typeof severities)[number];

/** `open`: seen earlier, and still there. `acknowledged`: a person knows of it, and it does not count. */
export const findingStates = ['new', 'open', 'acknowledged', 'resolved'] as const;
export type FindingState = (typeof findingStates)[number];
