/** CVE-2025-30215: accounts could delete each other's streams. */
const MIN_VERSION = '2.10.27'
/** Of the lines after it; what was published until 2026. */
const MIN_LATER_VERSION = '2.12.7'

/** A sentence for the operator when this version of nats-server has known faults that a newer one fixes; else null. */
export function findNatsWarning(version: string): string | null {
  const fixed = isBefore(version, '2.11.0') ? MIN_VERSION : MIN_LATER_VERSION
  if (!isBefore(version, fixed)) return null
  return `nats-server ${version} has known security faults: install ${fixed} or newer`
}

const parseVersion = (version: string) => (/(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number)

/** False for a text that is not a version. */
function isBefore(version: string, other: string): boolean {
  const theirs = parseVersion(other)
  const difference = parseVersion(version)
    .map((number, i) => number - theirs[i]!)
    .find(step => step !== 0)
  return difference !== undefined && difference < 0
}
