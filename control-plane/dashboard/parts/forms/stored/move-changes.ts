const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `theirs` with what differs between `before` and `mine`: own changes stay, everything else is theirs. Lists are not combined. */
export function moveChanges<T>(before: T, theirs: T, mine: T): T {
  if (JSON.stringify(before) === JSON.stringify(mine)) return theirs
  if (!isObject(before) || !isObject(theirs) || !isObject(mine)) return mine
  const names = Object.keys({ ...theirs, ...mine })
  return Object.fromEntries(names.map(name => [name, moveChanges(before[name], theirs[name], mine[name])])) as T
}
