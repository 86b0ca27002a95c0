export interface Person {
  readonly name: string;
  readonly email: string;
}

export interface NoteVersion {
  readonly id: string;
  readonly content: string;
  readonly user: Person;
  /** When this was written. */
  readonly at: number;
}

export interface Note {
  readonly id: string;
  /** The current content, and its author. */
  content: string;
  user: Person;
  /** Earlier contents, oldest first. */
  readonly versions: NoteVersion[];
  readonly createdAt: number;
  updatedAt: number;
}

/** The notes of one site. `made` counts all notes that were ever created. */
export interface SiteNotes {
  made: number;
  readonly notes: Map<string, Note>;
}
