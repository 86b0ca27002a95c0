/** Notes on a site and their earlier versions (spec 4.17). */
import { z } from 'zod';
import { field, listTimestamp, text } from '../list.ts';
import { operationsOf } from '../operation.ts';
import { idSchema, nonBlank, part, timestamp } from '../schema.ts';
import { PageMeta } from './shared.ts';

// Notes on a site, and their earlier versions (spec 2.19).

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

const note = part({ note: Note }, 'note');
const noteBody = z.strictObject({ note: z.strictObject({ content: nonBlank.max(2500) }) });

const operation = operationsOf('4.17');

export const noteOperations = {
  listSiteNotes: operation({
    summary: 'Lists the notes on a site.',
    method: 'GET',
    path: '/sites/{site_id}/notes',
    answer: part({ notes: z.array(Note), meta: PageMeta }, 'notes'),
    list: {
      key: 'notes',
      filters: {
        user_email: field('user.email', text('eq', 'contains')),
        content: text('contains'),
        created_at: field('created_at', listTimestamp('gte', 'lte')),
        updated_at: field('updated_at', listTimestamp('gte', 'lte')),
      },
      sorts: ['updated_at', 'created_at', 'content'],
      defaultSort: 'updated_at,desc',
      timezone: true,
      paged: true,
    },
  }),
  createSiteNote: operation({
    summary: 'Writes a note on a site.',
    method: 'POST',
    path: '/sites/{site_id}/notes',
    body: noteBody,
    bodyRequired: true,
    success: 201,
    answer: note,
    errors: [422],
    effect: 'once',
  }),
  showSiteNote: operation({
    summary: 'Shows a note.',
    method: 'GET',
    path: '/sites/{site_id}/notes/{note_id}',
    answer: note,
  }),
  deleteSiteNote: operation({
    summary: 'Deletes a note and its earlier versions.',
    destructive: 'The note is lost.',
    method: 'DELETE',
    path: '/sites/{site_id}/notes/{note_id}',
    errors: [422],
    effect: 'repeatable',
  }),
  // Every update stores the previous content as a version, so a second update has a second effect.
  updateSiteNote: operation({
    summary: 'Changes a note; the previous content becomes a version.',
    method: 'POST',
    path: '/sites/{site_id}/notes/{note_id}/update',
    body: noteBody,
    bodyRequired: true,
    answer: note,
    errors: [422],
    effect: 'once',
  }),
  listSiteNoteVersions: operation({
    summary: 'Lists the earlier versions of a note, the latest first.',
    method: 'GET',
    path: '/sites/{site_id}/notes/{note_id}/versions',
    answer: part({ versions: z.array(NoteVersion) }, 'versions'),
    list: { key: 'versions', filters: {}, sorts: [], timezone: false, paged: false },
  }),
} as const;
