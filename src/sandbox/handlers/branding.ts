/**
 * Plugin and login-screen branding (spec 4.6). Each change is carried out on all connected sites, one change
 * at a time.
 */

import type { PluginBranding, WpLogin } from '../model/account.ts';
import type { World } from '../model/world.ts';
import { cannot } from '../refusal.ts';
import { pluginBrandingView, wpLoginView } from '../views/branding.ts';
import { requireFeature } from '../world/account.ts';
import { noPluginBranding, noWpLogin } from '../world/branding.ts';
import { requireNoSettingChange, startSettingChange } from '../world/setting-changes.ts';
import type { Handler } from './handler.ts';
import { requireVerifiedSender } from './report-parts.ts';

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
