/** At once at one host: a slow one neither is hammered nor keeps the others waiting. */
const MOST_A_HOST = 8

/** Who is being asked now. */
export type Hosts = {
  /** False: as much is asked there as may be. */
  enter(url: string): boolean
  leave(url: string): void
}

export function createHosts(): Hosts {
  const asked = new Map<string, number>()
  return {
    enter(url) {
      const { host } = new URL(url)
      const count = asked.get(host) ?? 0
      if (count >= MOST_A_HOST) return false
      asked.set(host, count + 1)
      return true
    },
    leave(url) {
      const { host } = new URL(url)
      const count = asked.get(host) ?? 0
      if (count > 1) asked.set(host, count - 1)
      else asked.delete(host)
    },
  }
}
