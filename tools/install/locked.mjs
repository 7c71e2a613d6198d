// Compares the packages in node_modules with package-lock.json. Uses Node built-ins only.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const KINDS = ['dependencies', 'optionalDependencies', 'devDependencies']
const readJson = file => JSON.parse(readFileSync(file, 'utf8'))

/** The packages of the lock file by path, for example `node_modules/esbuild`. */
export const readLockedPackages = root => readJson(join(root, 'package-lock.json')).packages

/** Problems as sentences: the lock file differs from package.json, or a package has no integrity. */
export function checkLockFile(root) {
  const wanted = readJson(join(root, 'package.json'))
  const { '': own, ...packages } = readLockedPackages(root)
  const kinds = KINDS.filter(kind => JSON.stringify(wanted[kind] ?? {}) !== JSON.stringify(own[kind] ?? {}))
  const open = Object.entries(packages).filter(([, { integrity, link }]) => !integrity && !link)
  return [
    ...kinds.map(kind => `package-lock.json differs from package.json in ${kind}`),
    ...open.map(([place]) => `package-lock.json has no integrity for ${place}`),
  ]
}

/**
 * A package for another platform may be missing in the lock file because the registry did not offer it. Then a locked package
 * has to depend on exactly this version.
 */
function isRequiredVersion(locked, place, version) {
  const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
  return Object.values(locked).some(({ optionalDependencies = {} }) => optionalDependencies[name] === version)
}

/** Problems as sentences: packages in node_modules that are not in the lock file or differ from it. */
export function checkInstalledPackages(root) {
  const file = join(root, 'node_modules/.package-lock.json')
  if (!existsSync(file)) return ['node_modules was not created by npm']
  const locked = readLockedPackages(root)
  return Object.entries(readJson(file).packages).flatMap(([place, { version, integrity }]) => {
    const known = locked[place]
    if (known === undefined)
      return isRequiredVersion(locked, place, version) ? [] : [`${place} ${version} is not in package-lock.json`]
    return known.integrity === integrity
      ? []
      : [`${place} is ${version}, not the ${known.version} of package-lock.json`]
  })
}
