/** What the log of changes distinguishes. `monitor`: a monitor, its status or its votes. */
export const CHANGE_KINDS = ['monitor', 'incident', 'delivery', 'channel', 'maintenance'] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

/** The ids of the changed records, by kind. */
export type ProjectChanges = ReadonlyMap<ChangeKind, string[]>
