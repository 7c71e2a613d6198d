let chosen: readonly string[] = []

/** Keeps the ids of the monitors that were selected in a list, for the form that opens next. They can be too many for an address. */
export function keepChosenMonitors(ids: readonly string[]): void {
  chosen = ids
}

/** Returns the ids that were kept in this tab, once. */
export function takeChosenMonitors(): readonly string[] {
  const ids = chosen
  chosen = []
  return ids
}
