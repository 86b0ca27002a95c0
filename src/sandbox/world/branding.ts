import type { Branding, PluginBranding, WpLogin } from '../model/account.ts';

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
