/** All features that a plan may lack. */
export const planFeatures = ['plugin_branding', 'wp_login', 'update_backup', 'visual_regression'] as const;

export type PlanFeature = (typeof planFeatures)[number];
