/** The view of a custom work entry (spec 2.18). */
import type { CustomWork as Shown } from '../../contract/resources/custom-work.ts';
import type { CustomWork } from '../model/custom-works.ts';
import { shown } from './timestamp.ts';

export const customWorkView = (work: CustomWork): Shown => ({
  id: work.id,
  title: work.title,
  description: work.description,
  performed_on: work.performedOn,
  created_at: shown(work.createdAt),
  updated_at: shown(work.updatedAt),
});
