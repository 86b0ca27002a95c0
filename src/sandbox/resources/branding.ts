/**
 * Plugin and login-screen branding (spec 4.6). Each change is carried out on all connected sites, one change
 * at a time.
 */
import type {
  PluginBranding as ShownPluginBranding,
  WpLogin as ShownWpLogin,
} from '../../contract/operations/branding.ts';
import type { Branding, PluginBranding, WpLogin } from '../model/account.ts';
import type { World } from '../model/world.ts';
import { cannot, conflict } from '../refusal.ts';
import { MINUTE, SECOND } from '../world/time.ts';
import { type Handler, requireFeature } from './handler.ts';
import { requireVerifiedSender, senderReference } from './sender-emails.ts';
import { startTask } from './tasks.ts';

/** The plugin's default branding. */
export const defaultPlugin = {
  name: 'Site Care',
  description: 'Backups, security and updates for this site.',
  author: { name: 'Site Management Service', url: 'https://service.example' },
} as const;

/** The branding after a reset. */
export const noPluginBranding: PluginBranding = {
  type: 'default',
  name: null,
  description: null,
  author: null,
};
export const noWpLogin: WpLogin = {
  logoFile: null,
  label: null,
  errorMessage: null,
  tooltip: null,
  senderId: null,
};

/** The branding of an account without any. */
export const newBranding = (): Branding => ({
  plugin: noPluginBranding,
  login: noWpLogin,
  taskId: null,
});

// The views of branding (spec 2.6, 2.7).

/** By default the service's own details, otherwise the saved ones, which are empty when it is hidden. */
export const pluginBrandingView = ({ type, ...saved }: PluginBranding): ShownPluginBranding => ({
  type,
  ...(type === 'default' ? defaultPlugin : saved),
});

export function wpLoginView(world: World, login: WpLogin): ShownWpLogin {
  const isSet = Object.values(login).some((value) => value !== null);
  return {
    type: isSet ? 'custom' : 'default',
    logo_file: login.logoFile,
    label: login.label,
    error_message: login.errorMessage,
    tooltip: login.tooltip,
    sender_email: senderReference(world, login.senderId),
  };
}

// Changes of the account's settings, carried out at its sites, one change after the other: each is a task of
// type `settingop`, and while it runs another change is a conflict (spec 4.6, 7).

const TAKES_AT_A_SITE_MS = 5 * SECOND;
const TAKES_AT_LEAST_MS = 30 * SECOND;
const TAKES_AT_MOST_MS = 10 * MINUTE;

/** @throws {Refusal} 409 while a change is in progress. */
export function requireNoSettingChange({ branding, tasks }: World): void {
  const task = branding.taskId === null ? undefined : tasks.get(branding.taskId);
  if (task && task.endedAt === null) {
    throw conflict('setting_update_in_progress', 'Another setting update is in progress.');
  }
}

/** Starts a change at all connected sites. Does nothing without any. */
export function startSettingChange(world: World, now: number): void {
  const input = [...world.sites.values()].filter((site) => site.connected).map(({ id }) => ({ id }));
  if (input.length === 0) return;
  const takesMs = Math.min(TAKES_AT_MOST_MS, Math.max(TAKES_AT_LEAST_MS, input.length * TAKES_AT_A_SITE_MS));
  world.branding.taskId = startTask(world, { type: 'settingop', input, takesMs }, now).id;
}

/** Branding has no id of its own. The journal uses these names. */
const PLUGIN = 'plugin_branding';
const LOGIN = 'wp_login';

export const showPluginBranding: Handler<'showPluginBranding'> = ({ world }) => ({
  plugin_branding: pluginBrandingView(world.branding.plugin),
});

export const updatePluginBranding: Handler<'updatePluginBranding'> = ({ body, ...ask }) => {
  const { type, name, description, author } = body.plugin_branding;
  const saved = ask.world.branding.plugin;
  const wanted: PluginBranding = {
    type,
    name: name === undefined ? saved.name : textOrNull(name),
    description: description === undefined ? saved.description : textOrNull(description),
    author: author === undefined ? saved.author : authorOf(author),
  };
  return savePlugin(ask, type === 'custom' ? wanted : { ...noPluginBranding, type });
};

export const resetPluginBranding: Handler<'resetPluginBranding'> = (ask) => savePlugin(ask, noPluginBranding);

export const showWpLogin: Handler<'showWpLogin'> = ({ world }) => ({
  wp_login: wpLoginView(world, world.branding.login),
});

export const updateWpLogin: Handler<'updateWpLogin'> = ({ body, ...ask }) => {
  const { logo_file, label, error_message, tooltip, sender_email } = body.wp_login;
  const saved = ask.world.branding.login;
  const kept = (given: string | null | undefined, before: string | null) =>
    given === undefined ? before : textOrNull(given);
  return saveLogin(ask, {
    logoFile: kept(logo_file, saved.logoFile),
    label: kept(label, saved.label),
    errorMessage: kept(error_message, saved.errorMessage),
    tooltip: kept(tooltip, saved.tooltip),
    senderId: sender_email === undefined ? saved.senderId : (sender_email?.id ?? null),
  });
};

export const resetWpLogin: Handler<'resetWpLogin'> = (ask) => saveLogin(ask, noWpLogin);

interface Change {
  world: World;
  now: number;
  changed(resource: string): void;
}

function savePlugin({ world, now, changed }: Change, wanted: PluginBranding) {
  requireFeature(world, 'plugin_branding');
  requireNoSettingChange(world);
  if (wanted.type === 'custom' && wanted.name === null) {
    throw cannot('plugin_name_missing', 'Custom branding needs a name.');
  }
  if (!isSame(world.branding.plugin, wanted)) {
    world.branding.plugin = wanted;
    startSettingChange(world, now);
    changed(PLUGIN);
  }
  return { plugin_branding: pluginBrandingView(wanted) };
}

function saveLogin({ world, now, changed }: Change, wanted: WpLogin) {
  requireFeature(world, 'wp_login');
  requireNoSettingChange(world);
  const { logoFile, senderId } = wanted;
  if (logoFile !== null && !/^data:image\/[\w.+-]+;base64,[A-Za-z\d+/]+=*$/.test(logoFile)) {
    throw cannot('invalid_logo', 'A logo is an inline image: data:image/png;base64,...');
  }
  if (senderId !== null) requireVerifiedSender(world, senderId);
  if (!isSame(world.branding.login, wanted)) {
    world.branding.login = wanted;
    startSettingChange(world, now);
    changed(LOGIN);
  }
  return { wp_login: wpLoginView(world, wanted) };
}

/** A blank text clears a setting, like null. */
const textOrNull = (text: string | null): string | null =>
  text === null || text.trim() === '' ? null : text;

function authorOf(author: { name?: string | null | undefined; url?: string | null | undefined } | null) {
  const name = textOrNull(author?.name ?? null);
  const url = textOrNull(author?.url ?? null);
  return name === null && url === null ? null : { name: name ?? '', url: url ?? '' };
}

const isSame = (left: object, right: object): boolean => JSON.stringify(left) === JSON.stringify(right);
