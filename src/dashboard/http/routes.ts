/** Every address of the dashboard, who may ask for it, and the file that answers. bull-board has its own (`board.ts`). */
import type { Access } from '../access/guard.tsx';
import { sendRun } from '../api/run.ts';
import { sendRuns } from '../api/runs.ts';
import { sendScript } from '../assets/script.ts';
import { sendStyle } from '../assets/style.ts';
import { sendEvents } from '../live/events.ts';
import { sendAlive, sendReady } from '../machines/health.ts';
import { sendMetrics } from '../machines/metrics.ts';
import { showOverview } from '../pages/overview.tsx';
import { showRun } from '../pages/run.tsx';
import { leave, printLink, showSignIn, trySignIn } from '../pages/sign-in.tsx';
import type { Handler } from './parts.ts';

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
  { method: 'POST', path: '/sign-in/link', access: 'open', handle: printLink },
  { method: 'GET', path: '/style.css', access: 'open', handle: sendStyle },
  { method: 'POST', path: '/sign-out', access: 'person', handle: leave },

  { method: 'GET', path: '/', access: 'person', handle: showOverview },
  { method: 'GET', path: '/runs/:id', access: 'person', handle: showRun },
  { method: 'GET', path: '/live.js', access: 'person', handle: sendScript },
  { method: 'GET', path: '/events', access: 'person', handle: sendEvents },

  { method: 'GET', path: '/metrics', access: 'program', handle: sendMetrics },
  { method: 'GET', path: '/api/v1/runs', access: 'program', handle: sendRuns },
  { method: 'GET', path: '/api/v1/runs/:id', access: 'program', handle: sendRun },
];
