import type { TaskStatus } from './tasks.ts';

export interface StepProgress {
  type: string;
  status: TaskStatus;
  percent: number;
}

export interface SiteProgress {
  id: string;
  status: TaskStatus;
  percent: number;
  steps: StepProgress[];
}
