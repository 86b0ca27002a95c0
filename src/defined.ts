/** The type of `defined`: what may be undefined may be missing, and is never undefined. */
type Defined<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
};

/** The fields that have a value: `{ id, ...defined({ reason }) }` has no field `reason` when there is none. */
export const defined = <Fields extends object>(fields: Fields): Defined<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>;

/**
 * A union in which every field may be read on every member: on a member without the field it is undefined.
 */
export type Exclusive<Union, Field extends PropertyKey = FieldOf<Union>> = Union extends unknown
  ? Union & { [Other in Exclude<Field, keyof Union>]?: undefined }
  : never;
type FieldOf<Union> = Union extends unknown ? keyof Union : never;
