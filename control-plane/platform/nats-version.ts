/** CVE-2025-30215: accounts could delete each other's streams. */
const FIRST_GOOD = '2.10.27'
/** Of the lines after it; what was published until 2026. */
const FIRST_GOOD_LATER = '2.12.7'

/** A sentence for the operator when this version of nats-server has known faults that a newer one fixes; else null. */
export function natsWarning(version: string): string | null {
  const fixed = isBefore(version, '2.11.0') ? FIRST_GOOD : FIRST_GOOD_LATER
  if (!isBefore(version, fixed)) return null
  return `nats-server ${version} has known security faults: install ${fixed} or newer`
}

const numbersOf = (version: string) => (/(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number)

/** False for a text that is not a version. */
function isBefore(version: string, other: string): boolean {
  const theirs = numbersOf(other)
  const difference = numbersOf(version)
    .map((number, i) => number - theirs[i]!)
    .find(step => step !== 0)
  return difference !== undefined && difference < 0
}
