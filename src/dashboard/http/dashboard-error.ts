import { CaretakerError } from '../../errors.ts';

/** The dashboard cannot be served as the settings ask for it. */
export class DashboardError extends CaretakerError {
  readonly code = 'DASHBOARD';
}
