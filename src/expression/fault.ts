/** What is wrong with an expression. */
export interface Fault {
  message: string;
  /** The position in the expression, in characters. */
  offset?: number | undefined;
  suggestion?: string | undefined;
}
