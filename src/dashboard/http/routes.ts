/** Every address of the dashboard, who may request it, and its handler. Those of bull-board are in `board.ts`. */

import { askToPause, askToResume, askToRun, pause, resume, runNow } from '../actions/policy.tsx';
import {
  askToCancel,
  askToForceEnd,
  askToRelease,
  askToRetry,
  cancel,
  forceEnd,
  release,
  retry,
} from '../actions/run.tsx';
import { sendPolicies, sendPolicy } from '../api/policies.ts';
import { sendRun, sendRuns } from '../api/runs.ts';
import { sendTarget, sendTargets } from '../api/targets.ts';
import type { Access } from '../auth/guard.tsx';
import { sendEvents } from '../events/send-events.ts';
import { sendAlive, sendMetrics, sendReady } from '../monitoring/endpoints.ts';
import { showOverview } from '../pages/overview.tsx';
import { showPolicy } from '../pages/policy.tsx';
import { showRun } from '../pages/run.tsx';
import { showRuns } from '../pages/runs.tsx';
import { endSession, logNewLink, showSignIn, trySignIn } from '../pages/sign-in.tsx';
import { showSystem } from '../pages/system.tsx';
import { showTarget } from '../pages/target.tsx';
import { sendClientFile } from './client-files.ts';
import type { Handler } from './context.ts';

export interface Route {
  method: 'GET' | 'POST';
  path: string;
  access: Access;
  handle: Handler;
}

export const routes: readonly Route[] = [
  { method: 'GET', path: '/healthz', access: 'open', handle: sendAlive },
  { method: 'GET', path: '/readyz', access: 'open', handle: sendReady },

  { method: 'GET', path: '/sign-in', access: 'open', handle: showSignIn },
  { method: 'POST', path: '/sign-in', access: 'open', handle: trySignIn },
  { method: 'POST', path: '/sign-in/link', access: 'open', handle: logNewLink },
  { method: 'GET', path: '/client/style.css', access: 'open', handle: sendClientFile },
  { method: 'POST', path: '/sign-out', access: 'person', handle: endSession },

  { method: 'GET', path: '/', access: 'person', handle: showOverview },
  { method: 'GET', path: '/system', access: 'person', handle: showSystem },
  { method: 'GET', path: '/runs', access: 'person', handle: showRuns },
  { method: 'GET', path: '/runs/:id', access: 'person', handle: showRun },
  { method: 'GET', path: '/policies/:name', access: 'person', handle: showPolicy },
  { method: 'GET', path: '/targets/:account/:id', access: 'person', handle: showTarget },
  { method: 'GET', path: '/client/:file', access: 'person', handle: sendClientFile },
  { method: 'GET', path: '/events', access: 'person', handle: sendEvents },

  // A GET asks for confirmation and changes nothing; the POST to the same address makes the change.
  { method: 'GET', path: '/policies/:name/run', access: 'person', handle: askToRun },
  { method: 'POST', path: '/policies/:name/run', access: 'person', handle: runNow },
  { method: 'GET', path: '/policies/:name/pause', access: 'person', handle: askToPause },
  { method: 'POST', path: '/policies/:name/pause', access: 'person', handle: pause },
  { method: 'GET', path: '/policies/:name/resume', access: 'person', handle: askToResume },
  { method: 'POST', path: '/policies/:name/resume', access: 'person', handle: resume },
  { method: 'GET', path: '/runs/:id/cancel', access: 'person', handle: askToCancel },
  { method: 'POST', path: '/runs/:id/cancel', access: 'person', handle: cancel },
  { method: 'GET', path: '/runs/:id/end', access: 'person', handle: askToForceEnd },
  { method: 'POST', path: '/runs/:id/end', access: 'person', handle: forceEnd },
  { method: 'GET', path: '/runs/:id/release', access: 'person', handle: askToRelease },
  { method: 'POST', path: '/runs/:id/release', access: 'person', handle: release },
  { method: 'GET', path: '/runs/:id/retry', access: 'person', handle: askToRetry },
  { method: 'POST', path: '/runs/:id/retry', access: 'person', handle: retry },

  { method: 'GET', path: '/metrics', access: 'program', handle: sendMetrics },
  { method: 'GET', path: '/api/v1/policies', access: 'program', handle: sendPolicies },
  { method: 'GET', path: '/api/v1/policies/:name', access: 'program', handle: sendPolicy },
  { method: 'GET', path: '/api/v1/runs', access: 'program', handle: sendRuns },
  { method: 'GET', path: '/api/v1/runs/:id', access: 'program', handle: sendRun },
  { method: 'GET', path: '/api/v1/runs/:id/targets', access: 'program', handle: sendTargets },
  { method: 'GET', path: '/api/v1/targets/:account/:id', access: 'program', handle: sendTarget },
  { method: 'GET', path: '/api/v1/events', access: 'program', handle: sendEvents },
];
