/** A list in pieces of so many items; none of an empty one. */
export function* inPieces<T>(list: readonly T[], most: number): Generator<T[]> {
  for (let from = 0; from < list.length; from += most) yield list.slice(from, from + most)
}
