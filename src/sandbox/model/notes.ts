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
  /** What it says now, and who wrote that when. */
  content: string;
  user: Person;
  /** What it said before, oldest first. */
  readonly versions: NoteVersion[];
  readonly createdAt: number;
  updatedAt: number;
}

/** The notes of one site; `made` counts all that it ever had. */
export interface SiteNotes {
  made: number;
  readonly notes: Map<string, Note>;
}
