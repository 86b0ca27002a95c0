/** Notes on a site and their earlier versions (spec 4.17). */
import { z } from 'zod';
import { field, listTimestamp, text } from '../list.ts';
import { operation } from '../operation.ts';
import { Note, NoteVersion } from '../resources/note.ts';
import { PageMeta } from '../resources/shared.ts';
import { nonBlank, part } from '../schema.ts';

const note = part({ note: Note }, 'note');
const noteBody = z.strictObject({ note: z.strictObject({ content: nonBlank.max(2500) }) });

export const noteOperations = {
  listSiteNotes: operation({
    section: '4.17',
    summary: 'Lists the notes on a site.',
    method: 'GET',
    path: '/sites/{site_id}/notes',
    success: 200,
    answer: part({ notes: z.array(Note), meta: PageMeta }, 'notes'),
    errors: [400, 401, 403, 404, 429],
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
    section: '4.17',
    summary: 'Writes a note on a site.',
    method: 'POST',
    path: '/sites/{site_id}/notes',
    body: noteBody,
    bodyRequired: true,
    success: 201,
    answer: note,
    errors: [400, 401, 403, 404, 422, 429],
    effect: 'once',
  }),
  showSiteNote: operation({
    section: '4.17',
    summary: 'Shows a note.',
    method: 'GET',
    path: '/sites/{site_id}/notes/{note_id}',
    success: 200,
    answer: note,
    errors: [401, 403, 404, 429],
  }),
  deleteSiteNote: operation({
    section: '4.17',
    summary: 'Deletes a note and its earlier versions.',
    destructive: 'The note is lost.',
    method: 'DELETE',
    path: '/sites/{site_id}/notes/{note_id}',
    success: 204,
    errors: [401, 403, 404, 422, 429],
    effect: 'repeatable',
  }),
  // Every update stores the previous content as a version, so a second update has a second effect.
  updateSiteNote: operation({
    section: '4.17',
    summary: 'Changes a note; the previous content becomes a version.',
    method: 'POST',
    path: '/sites/{site_id}/notes/{note_id}/update',
    body: noteBody,
    bodyRequired: true,
    success: 200,
    answer: note,
    errors: [400, 401, 403, 404, 422, 429],
    effect: 'once',
  }),
  listSiteNoteVersions: operation({
    section: '4.17',
    summary: 'Lists the earlier versions of a note, the latest first.',
    method: 'GET',
    path: '/sites/{site_id}/notes/{note_id}/versions',
    success: 200,
    answer: part({ versions: z.array(NoteVersion) }, 'versions'),
    errors: [401, 403, 404, 429],
    list: { key: 'versions', filters: {}, sorts: [], timezone: false, paged: false },
  }),
} as const;
