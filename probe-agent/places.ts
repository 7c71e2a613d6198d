/** After so long a check only waits for its target and costs next to nothing. */
const FRESH_MS = 2000
/** How many more may wait than may be fresh. */
const WAITING_FACTOR = 10

export type Place = { takenMs: number; isFresh: boolean; isTaken: boolean }

/**
 * Limits on concurrent checks. A check holds one of `limit` places for its first 2 s; one that goes on waiting gives its
 * place to others and is counted against ten times as many. So when a third of all targets turns into black holes, the
 * rest still starts on time. Times by the monotonic clock.
 */
export type Places = {
  /** null when there is none */
  take: (nowMs: number) => Place | null
  giveBack: (place: Place) => void
  taken: () => number
}

export function createPlaces(limit: number): Places {
  let fresh = 0
  let taken = 0
  let oldestFirst: Place[] = []
  let next = 0

  function age(nowMs: number): void {
    for (; next < oldestFirst.length; next++) {
      const place = oldestFirst[next]!
      if (place.isTaken && nowMs - place.takenMs < FRESH_MS) break
      if (place.isFresh) fresh--
      place.isFresh = false
    }
    if (next > 1000) {
      oldestFirst = oldestFirst.slice(next)
      next = 0
    }
  }

  return {
    take(nowMs) {
      age(nowMs)
      if (fresh >= limit || taken >= limit * WAITING_FACTOR) return null
      const place = { takenMs: nowMs, isFresh: true, isTaken: true }
      oldestFirst.push(place)
      fresh++
      taken++
      return place
    },
    giveBack(place) {
      if (place.isFresh) fresh--
      place.isFresh = false
      place.isTaken = false
      taken--
    },
    taken: () => taken,
  }
}
