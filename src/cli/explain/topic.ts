/** What `caretaker explain` shows about one word. */
export interface Topic {
  /** Its name, as it is written where it is used. */
  name: string;
  /** Which kind of word it is: `reason`, `error code`, `policy key`, ... */
  kind: string;
  /** What it means, in a sentence or two. */
  text: string;
  /** Facts by name: type, default, what to do. */
  facts: Readonly<Record<string, string>>;
  /** What one writes, perhaps in several lines. */
  example?: string;
  /** More for people, already in lines: the parameters of an operation. */
  details?: string;
}

/** The words of one kind, and what is known about each. */
export interface Topics {
  /** For suggestions. */
  names(): readonly string[];
  /** The topics that a person may mean by this word. */
  find(word: string): readonly Topic[];
}
