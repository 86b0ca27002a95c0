/** The look of the service's plugin and of the login screen on the account's sites (spec 2.6, 2.7). */

export type Author = { name: string; url: string };

export interface PluginBranding {
  type: 'default' | 'custom' | 'hidden';
  /** What was saved for `custom`; null for the other types. */
  name: string | null;
  description: string | null;
  author: Author | null;
}

export interface WpLogin {
  logoFile: string | null;
  label: string | null;
  errorMessage: string | null;
  tooltip: string | null;
  senderId: string | null;
}

export interface Branding {
  plugin: PluginBranding;
  login: WpLogin;
  /** The task of the last change. */
  taskId: string | null;
}
