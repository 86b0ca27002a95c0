/** What blocks work, one line each. They open from the status in the top bar, over the page: nothing moves. */
import { isPermitted, type Principal } from '../../access/principal.ts';
import type { BrokenFile } from '../options.ts';
import type { Alert } from '../queries/system-status.ts';
import { Icon, type IconName } from './icon.tsx';
import { Sentence, Time } from './time.tsx';

/** At most this many errors and policies of a broken file are shown. */
const MAX_ERRORS = 20;
const MAX_KEPT = 100;

const icons: Record<Alert['is'], IconName> = {
  failed: 'octagon-x',
  blocked: 'circle-pause',
  partial: 'triangle-alert',
};

/** The status in one word, in the colour of the worst notice. Screen readers announce when it changes. */
export const StatusPill = ({ alerts }: { alerts: readonly Alert[] }) => {
  const [worst] = alerts;
  const count = alerts.length === 1 ? '1 notice' : `${alerts.length} notices`;
  return (
    <span id="status" role="status" data-live>
      <button
        type="button"
        class={`pill ${worst ? `is-${worst.is}` : 'is-good'}`}
        popovertarget="notices"
        {...(worst ? { title: worst.sentence } : {})}
      >
        <Icon name={worst ? icons[worst.is] : 'circle-check'} />
        {worst ? (
          <>
            <span aria-hidden="true">{alerts.length}</span>
            <span class="unseen">{count}</span>
            <span class="word" aria-hidden="true">
              {alerts.length === 1 ? 'notice' : 'notices'}
            </span>
          </>
        ) : (
          <>
            <span class="unseen">No notices</span>
            <span class="word" aria-hidden="true">
              No notices
            </span>
          </>
        )}
      </button>
    </span>
  );
};

interface NoticesProps {
  /** The worst first. */
  alerts: readonly Alert[];
  principal: Principal;
}

export const Notices = ({ alerts, principal }: NoticesProps) => (
  <section class="panel" id="notices" popover="auto" aria-label="Notices">
    <div id="warnings" data-live>
      {alerts.length === 0 && (
        <p class="notice">
          <span class="dim">All processes are running, and nothing is blocked.</span>
        </p>
      )}
      {alerts.map((alert) => (
        <Notice alert={alert} links={isPermitted(principal, 'viewer')} />
      ))}
    </div>
  </section>
);

const Notice = ({ alert, links }: { alert: Alert; links: boolean }) => {
  const { is, sentence, since, file, path = '/system' } = alert;
  return (
    <div class={`notice is-${is}`} data-key={file?.file ?? sentence}>
      <Icon name={icons[is]} />
      <div>
        <p class="sentence">
          <Sentence text={sentence} />
        </p>
        <p class="dim small">
          {since !== undefined && (
            <>
              Since <Time at={since} />.{' '}
            </>
          )}
          {file === undefined && (links || alert.path !== undefined) && <a href={path}>Details</a>}
        </p>
        {file && <FileErrors file={file} />}
      </div>
    </div>
  );
};

const FileErrors = ({ file: { errors, kept } }: { file: BrokenFile }) => (
  <details>
    <summary>
      {errors.length === 1 ? 'The error' : `The ${errors.length} errors`} and the active policies
    </summary>
    {errors.slice(0, MAX_ERRORS).map(({ place, message, suggestion, frame }) => (
      <>
        <p>
          <code>{place}</code> {message} {suggestion}
        </p>
        {frame && <pre tabindex={0}>{frame}</pre>}
      </>
    ))}
    {errors.length > MAX_ERRORS && (
      <p>
        And {errors.length - MAX_ERRORS} more: <code>caretaker validate</code> shows all.
      </p>
    )}
    {kept.length > 0 && (
      <>
        <p>Active in their previous version:</p>
        <ul>
          {kept.slice(0, MAX_KEPT).map(({ name, readAt }) => (
            <li>
              {name}, read <Time at={readAt} />
            </li>
          ))}
          {kept.length > MAX_KEPT && <li>and {kept.length - MAX_KEPT} more</li>}
        </ul>
      </>
    )}
  </details>
);
