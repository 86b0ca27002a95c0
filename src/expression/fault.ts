/** What is wrong with an expression. */
export interface Fault {
  message: string;
  /** How many characters into the expression. */
  offset?: number | undefined;
  suggestion?: string | undefined;
}
