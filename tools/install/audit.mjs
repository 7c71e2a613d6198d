// npm run audit: lists dependencies with install scripts or native code and checks that docs/design/security.md lists them.
// Works offline; `-- --releases` also queries the registry for the release dates of direct dependencies.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkInstalledPackages, checkLockFile, readLockedPackages } from './locked.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const LIST = 'docs/design/security.md'
const TWO_YEARS_MS = 2 * 365 * 24 * 3_600_000
const [SCRIPT, NATIVE, OLD] = ['install script', 'native code', 'no release for two years']

const packageName = place => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** Findings by package name, from the lock file and node_modules. `native`: names of packages with compiled code. */
export function collectFindings(packages, native) {
  const found = new Map()
  const add = (name, kind) => found.set(name, new Set([...(found.get(name) ?? []), kind]))
  for (const [place, { hasInstallScript, os, cpu }] of Object.entries(packages)) {
    if (hasInstallScript) add(packageName(place), SCRIPT)
    if (os || cpu) add(packageName(place), NATIVE)
  }
  for (const name of native) add(name, NATIVE)
  return found
}

/** The rows of the table: `| \`name\` | install script, native code | why |`. A name may be a scope: `@esbuild/*`. */
export function parseListedPackages(markdown) {
  const rows = [...markdown.matchAll(/^\| ((?:`[^`|]+`(?:, )?)+) \| ([^|]+) \|/gm)]
  const entries = rows.flatMap(([, names, kinds]) => {
    const known = kinds.split(',').map(kind => kind.trim())
    if (!known.every(kind => [SCRIPT, NATIVE, OLD].includes(kind))) return []
    return [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => [name, new Set(known)])
  })
  return new Map(entries)
}

const findRow = (listed, name) => listed.get(name) ?? listed.get(`${name.split('/')[0]}/*`)

/** Differences as sentences: found but not listed, and listed but not found. */
export function compareWithList(found, listed) {
  const unlisted = [...found].flatMap(([name, kinds]) =>
    [...kinds]
      .filter(kind => !findRow(listed, name)?.has(kind))
      .map(kind => `${name} has: ${kind}; review it and add it to the list`),
  )
  const isInstalled = name => [...found.keys()].some(one => one === name || `${one.split('/')[0]}/*` === name)
  const gone = [...listed.keys()].filter(name => !isInstalled(name)).map(name => `${name} is listed but not installed`)
  return [...unlisted, ...gone]
}

/** Names of installed packages with compiled files. */
export function findNativePackages(folder) {
  const packages = readdirSync(folder).flatMap(name =>
    name.startsWith('@') ? readdirSync(join(folder, name)).map(inner => `${name}/${inner}`) : [name],
  )
  return packages.filter(name => {
    if (name.startsWith('.')) return false
    const own = readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' })
    return own.some(file => !file.startsWith('node_modules/') && (file.endsWith('.node') || file === 'binding.gyp'))
  })
}

/** The release time of a package's newest version; null when the registry has none. */
function newestRelease(name) {
  try {
    const out = execFileSync('npm', ['view', name, 'time', '--json'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const { created, modified, ...versions } = JSON.parse(out)
    const times = Object.values(versions)
      .map(text => Date.parse(text))
      .filter(Number.isFinite)
    return times.length === 0 ? null : Math.max(...times)
  } catch {
    return null
  }
}

function addOld(found, names) {
  for (const name of names) {
    const releasedMs = newestRelease(name)
    if (releasedMs === null) console.log(`${name}: the registry has no release date`)
    else if (Date.now() - releasedMs > TWO_YEARS_MS) found.set(name, new Set([...(found.get(name) ?? []), OLD]))
  }
}

function main(isAskingForReleases) {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const installed = join(ROOT, 'node_modules')
  const found = collectFindings(readLockedPackages(ROOT), existsSync(installed) ? findNativePackages(installed) : [])
  if (isAskingForReleases) addOld(found, Object.keys({ ...dependencies, ...optionalDependencies }))
  for (const [name, kinds] of [...found].sort()) console.log(`${name.padEnd(44)} ${[...kinds].join(', ')}`)
  const listed = parseListedPackages(readFileSync(join(ROOT, LIST), 'utf8'))
  if (!isAskingForReleases) for (const [name, kinds] of listed) if ([...kinds].join() === OLD) listed.delete(name)
  const differences = compareWithList(found, listed)
  const faults = [
    ...checkLockFile(ROOT),
    ...(existsSync(installed) ? checkInstalledPackages(ROOT) : []),
    ...differences,
  ]
  for (const fault of faults) console.error(fault)
  console.log(
    faults.length === 0
      ? `\nAll of them are listed in ${LIST}.`
      : `\n${faults.length} differ from ${LIST} or the lock.`,
  )
  process.exitCode = faults.length === 0 ? 0 : 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.includes('--releases'))
