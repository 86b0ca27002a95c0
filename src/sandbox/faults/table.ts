/** The form in which the three kinds of faults are listed. */
export type FaultTable = Readonly<Record<string, Fault>>;

interface Fault {
  help: string;
  /** How often it comes when it is asked for by name and no rate is given, from 0 to 1. */
  rate?: number;
}
