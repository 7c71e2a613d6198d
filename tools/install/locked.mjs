// Holds the packages in node_modules against package-lock.json. Node built-ins only.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const KINDS = ['dependencies', 'optionalDependencies', 'devDependencies']
const readJson = file => JSON.parse(readFileSync(file, 'utf8'))

/** What the lock says of each package, by its place: `node_modules/esbuild`. */
export const lockedPackages = root => readJson(join(root, 'package-lock.json')).packages

/** Sentences: where the lock is not what package.json asks for, or does not say which bytes a package has. */
export function faultsOfLock(root) {
  const wanted = readJson(join(root, 'package.json'))
  const { '': own, ...packages } = lockedPackages(root)
  const kinds = KINDS.filter(kind => JSON.stringify(wanted[kind] ?? {}) !== JSON.stringify(own[kind] ?? {}))
  const open = Object.entries(packages).filter(([, { integrity, link }]) => !integrity && !link)
  return [
    ...kinds.map(kind => `package-lock.json does not agree with package.json about ${kind}`),
    ...open.map(([place]) => `package-lock.json has no integrity of ${place}`),
  ]
}

/**
 * Of another platform than the one on which the lock was made, a package may have no entry: the registry did not offer it.
 * Then a locked package has to name this very version.
 */
function isNamed(locked, place, version) {
  const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
  return Object.values(locked).some(({ optionalDependencies = {} }) => optionalDependencies[name] === version)
}

/** Sentences: packages that npm has put into node_modules though the lock names other bytes, or none. */
export function faultsOfInstalled(root) {
  const file = join(root, 'node_modules/.package-lock.json')
  if (!existsSync(file)) return ['node_modules was not made by npm']
  const locked = lockedPackages(root)
  return Object.entries(readJson(file).packages).flatMap(([place, { version, integrity }]) => {
    const known = locked[place]
    if (known === undefined)
      return isNamed(locked, place, version) ? [] : [`${place} ${version} is not in package-lock.json`]
    return known.integrity === integrity
      ? []
      : [`${place} is ${version}, not the ${known.version} of package-lock.json`]
  })
}
