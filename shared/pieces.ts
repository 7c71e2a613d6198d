/** Splits a list into parts of at most `most` items. An empty list has no parts. */
export function* inPieces<T>(list: readonly T[], most: number): Generator<T[]> {
  for (let from = 0; from < list.length; from += most) yield list.slice(from, from + most)
}
