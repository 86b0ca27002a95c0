/** The form of the tables of the three kinds of faults. */
export type FaultTable = Readonly<Record<string, Fault>>;

interface Fault {
  help: string;
  /** The default rate, from 0 to 1, when the fault is given by name. */
  rate?: number;
}
