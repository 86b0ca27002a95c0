/** Invented names. Addresses end in `.example`, a reserved domain (RFC 2606). */
export const firstNames = [
  'Ada',
  'Ben',
  'Chiara',
  'Dmitri',
  'Elif',
  'Femi',
  'Greta',
  'Hugo',
  'Ines',
  'Jonas',
  'Keiko',
  'Lars',
] as const;

export const lastNames = [
  'Adler',
  'Bianchi',
  'Cho',
  'Dubois',
  'Eriksen',
  'Fischer',
  'Garcia',
  'Hansen',
  'Ivanova',
  'Jansen',
  'Kaya',
  'Lopez',
] as const;

export const places = [
  'Harbor',
  'Maple',
  'Northern',
  'Old Town',
  'Riverside',
  'Silver',
  'Sunny',
  'Alpine',
  'Garden',
  'Lakeside',
  'Market',
  'Station',
] as const;

export const trades = [
  'Bakery',
  'Books',
  'Cycles',
  'Dental',
  'Estates',
  'Florist',
  'Gym',
  'Hotel',
  'Kitchen',
  'Law',
  'Music School',
  'Pottery',
  'Tailor',
  'Travel',
  'Vets',
] as const;

export const tagNames = [
  'production',
  'shop',
  'blog',
  'priority',
  'care plan',
  'legacy',
  'seasonal',
  'landing page',
] as const;

export const tagColors = [
  '#c0392b',
  '#e67e22',
  '#f1c40f',
  '#27ae60',
  '#16a085',
  '#2980b9',
  '#8e44ad',
  '#34495e',
] as const;

/** A name as part of an address: `old-town-bakery` for `Old Town Bakery`. */
export const slug = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
