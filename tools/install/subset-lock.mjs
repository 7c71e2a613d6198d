// node tools/install/subset-lock.mjs FOLDER [--production] [package …]: writes a package.json and a package-lock.json with these
// packages and their dependencies, as in package-lock.json, so that `npm ci` in FOLDER installs exactly the same bytes.
// --production: all `dependencies` of package.json. Optional packages are included only when they are named.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FLAGS = ['dev', 'optional', 'devOptional', 'peer']

/** The path of the package that a package at `place` resolves `name` to; null when the lock file has none. */
function resolve(packages, place, name) {
  for (let folder = place; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const found = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (found in packages) return found
    if (folder === '') return null
  }
}

const without = (record, keys) => Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)))

/** The required dependencies of a package. */
function listRequired({ dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} }) {
  const peers = Object.keys(peerDependencies).filter(name => !peerDependenciesMeta[name]?.optional)
  return [...Object.keys(dependencies), ...peers]
}

/** Both files as objects. Throws for a name that is not in the lock file. */
export function createSubset(lock, names) {
  const { packages } = lock
  const places = new Set()
  const open = names.map(name => ['', name])
  for (const [from, name] of open) {
    const place = resolve(packages, from, name)
    if (place === null) throw new Error(`package-lock.json does not contain ${name}${from && `, which ${from} needs`}`)
    if (places.has(place)) continue
    places.add(place)
    open.push(...listRequired(packages[place]).map(need => [place, need]))
  }
  const dependencies = Object.fromEntries(names.map(name => [name, packages[`node_modules/${name}`].version]))
  const own = { name: 'picket-packages', version: '0.0.0', private: true, dependencies }
  const kept = [...places].sort().map(place => [place, without(packages[place], [...FLAGS, 'optionalDependencies'])])
  return {
    manifest: own,
    lock: {
      ...own,
      lockfileVersion: lock.lockfileVersion,
      requires: true,
      packages: { '': own, ...Object.fromEntries(kept) },
    },
  }
}

const [, program = '', folder, ...words] = process.argv
if (program.endsWith('subset-lock.mjs') && folder) {
  const read = name => JSON.parse(readFileSync(name, 'utf8'))
  const production = words.includes('--production') ? Object.keys(read('package.json').dependencies) : []
  const named = words.filter(word => word !== '--production')
  const { manifest, lock } = createSubset(read('package-lock.json'), [...production, ...named])
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock, null, 2))
}
