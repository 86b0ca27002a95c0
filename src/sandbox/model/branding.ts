/** What the service's plugin and the login screen look like on the account's sites (spec 2.6, 2.7). */

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
  /** The task that carried out, or carries out, the last change at the sites. */
  taskId: string | null;
}
