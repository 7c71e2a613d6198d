/** Groups items by a key, keeping their order. */
export function groupBy<Key, Thing>(things: readonly Thing[], getKey: (thing: Thing) => Key): Map<Key, Thing[]> {
  const groups = new Map<Key, Thing[]>()
  for (const thing of things) {
    const group = groups.get(getKey(thing))
    if (group) group.push(thing)
    else groups.set(getKey(thing), [thing])
  }
  return groups
}
