/** CVE-2025-30215: accounts could delete each other's streams. */
const MIN_VERSION = '2.10.27'
/** The same for release lines 2.11 and newer. */
const MIN_LATER_VERSION = '2.12.7'

/** A warning for the operator when this version of nats-server has known vulnerabilities that a newer one fixes; else null. */
export function findNatsWarning(version: string): string | null {
  const fixed = isBefore(version, '2.11.0') ? MIN_VERSION : MIN_LATER_VERSION
  if (!isBefore(version, fixed)) return null
  return `nats-server ${version} has known security faults: install ${fixed} or newer`
}

const parseVersion = (version: string) => (/(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number)

/** False for a text that is not a version. */
function isBefore(version: string, other: string): boolean {
  const otherParts = parseVersion(other)
  const difference = parseVersion(version)
    .map((number, i) => number - otherParts[i]!)
    .find(step => step !== 0)
  return difference !== undefined && difference < 0
}
