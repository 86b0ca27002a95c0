/** `dead`: it was given up, and is sent again only if a person asks for it. */
export const deliveryStates = ['pending', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof deliveryStates)[number];
