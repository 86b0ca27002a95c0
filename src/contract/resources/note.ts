/** Notes on a site, and their earlier versions (spec 2.19). */
import { z } from 'zod';
import { idSchema, part, timestamp } from '../schema.ts';

const shared = {
  id: idSchema,
  content: z.string(),
  user: part({ name: z.string(), email: z.string() }),
  created_at: timestamp,
  updated_at: timestamp,
};

export const Note = part({ ...shared, versions: part({ available: z.boolean() }) }, 'id');
export type Note = z.output<typeof Note>;

/** Earlier content of a note; the current content is not a version. */
export const NoteVersion = part(shared, 'id');
export type NoteVersion = z.output<typeof NoteVersion>;
