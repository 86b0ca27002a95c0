import type { Branding, PluginBranding, WpLogin } from '../model/branding.ts';

/** What the plugin is called when nobody has said otherwise. */
export const defaultPlugin = {
  name: 'Site Care',
  description: 'Backups, security and updates for this site.',
  author: { name: 'Site Management Service', url: 'https://service.example' },
} as const;

/** Nothing saved: what a reset gives back. */
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

/** The branding of an account that has none. */
export const newBranding = (): Branding => ({
  plugin: noPluginBranding,
  login: noWpLogin,
  taskId: null,
});
