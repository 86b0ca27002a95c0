/** The views of a note and its earlier versions (spec 2.19). */
import type { Note as ShownNote, NoteVersion as ShownVersion } from '../../contract/resources/note.ts';
import type { Note, NoteVersion } from '../model/notes.ts';
import { shown } from './timestamp.ts';

export const noteView = (note: Note): ShownNote => ({
  id: note.id,
  content: note.content,
  user: { ...note.user },
  versions: { available: note.versions.length > 0 },
  created_at: shown(note.createdAt),
  updated_at: shown(note.updatedAt),
});

/** Both timestamps of a version are the time when its content was written. */
export const noteVersionView = (version: NoteVersion): ShownVersion => ({
  id: version.id,
  content: version.content,
  user: { ...version.user },
  created_at: shown(version.at),
  updated_at: shown(version.at),
});
