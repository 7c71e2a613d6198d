import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BuildFailure, build, type Plugin } from 'esbuild'
import { ABSENT_PACKAGES, COMMONJS, EXTERNAL_PACKAGES } from '../build/build.mjs'
import { dashboardAssets } from '../build/dashboard-assets.mjs'

/** Packages of the bundles: those that the programs of `dist` contain, and tap. All others are loaded from node_modules. */
const INLINED = new Set(['tap', ...listProductionPackages()].filter(name => !EXTERNAL_PACKAGES.includes(name)))

function listProductionPackages(): string[] {
  return Object.keys(JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')).dependencies)
}

/** What test files import as `tap`. */
const CURRENT_TEST = join(import.meta.dirname, 'process/current-test.ts')
/** What tap imports as `async-hook-domain`. */
const ERROR_DOMAIN = join(import.meta.dirname, 'process/error-domain.ts')
/** What tap imports as `tcompare`. */
const STRICT_MATCH = join(import.meta.dirname, 'process/strict-match.ts')
const RUN_GROUP = join(import.meta.dirname, 'process/run-group.ts')

/**
 * Bundles test files, with common chunks, into a directory of this run. A bundle loads in a third of the time of the sources.
 * In bundles, `import.meta` has the values of the source files.
 */
export async function bundleTests(root: string, files: string[]) {
  mkdirSync(join(root, '.tap'), { recursive: true })
  const folder = mkdtempSync(join(root, '.tap/tests-'))
  await bundle(root, folder, files, true)
  return {
    buildPath: (file: string) => bundlePath(folder, file),
    /** runs several bundles in one process; see run-group.ts */
    groupProgram: bundlePath(folder, 'run-group.ts'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/**
 * Bundles files. A file that cannot be bundled is replaced by a program that throws the error. An error in a file that others
 * import is found by bisection.
 */
async function bundle(root: string, folder: string, files: string[], hasGroupProgram: boolean): Promise<void> {
  try {
    return await bundleAll(root, folder, files, hasGroupProgram)
  } catch (error) {
    if (files.length === 0) throw error
    const { errors = [], message } = error as Partial<BuildFailure> & Error
    const findErrors = (file: string) => errors.filter(({ location }) => location?.file === file)
    const faulty = files.length === 1 ? files : files.filter(file => findErrors(file).length > 0)
    for (const file of faulty) {
      const own = findErrors(file).map(({ location, text }) => `${file}:${location!.line}: ${text}`)
      writeFailingBundle(bundlePath(folder, file), own.join('\n') || message)
    }
    const others = files.filter(file => !faulty.includes(file))
    if (faulty.length > 0) return bundle(root, folder, others, hasGroupProgram)
  }
  if (hasGroupProgram) await bundleAll(root, folder, [], true)
  const half = Math.ceil(files.length / 2)
  await bundle(root, folder, files.slice(0, half), false)
  await bundle(root, folder, files.slice(half), false)
}

function writeFailingBundle(path: string, message: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `throw new Error(${JSON.stringify(message)})\n`)
}

const bundlePath = (folder: string, file: string) => join(folder, file.replace(/\.ts$/, '.js'))

async function bundleAll(root: string, folder: string, files: string[], hasGroupProgram: boolean): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries([
      ...files.map(file => [file.replace(/\.ts$/, ''), join(root, file)]),
      ...(hasGroupProgram ? [['run-group', RUN_GROUP]] : []),
    ]),
    outdir: folder,
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    sourcemap: true,
    // only positions are read from it
    sourcesContent: false,
    banner: { js: COMMONJS },
    plugins: [dashboardAssets, sourceLocation, externalPackages],
    logLevel: 'silent',
  })
}

const sourceLocation: Plugin = {
  name: 'source location',
  setup({ onLoad }) {
    onLoad({ filter: /\.(tsx?|mjs)$/ }, ({ path }) => {
      if (path.includes('/node_modules/')) return undefined
      const source = readFileSync(path, 'utf8')
      const location = { url: pathToFileURL(path).href, filename: path, dirname: dirname(path) }
      const contents = source.replace(
        /(?<!['"`])\bimport\.meta\.(url|filename|dirname)\b/g,
        (_, property: keyof typeof location) => JSON.stringify(location[property]),
      )
      return { contents, loader: path.endsWith('.mjs') ? 'js' : path.endsWith('x') ? 'tsx' : 'ts' }
    })
  },
}

const externalPackages: Plugin = {
  name: 'external packages',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) => {
      if (kind === 'entry-point' || path.startsWith('node:')) return undefined
      if (ABSENT_PACKAGES.includes(path)) return { path, external: true }
      if (path === 'async-hook-domain') return { path: ERROR_DOMAIN }
      const isOfPackage = importer.includes('/node_modules/')
      if (isOfPackage && path === 'tcompare') return { path: STRICT_MATCH }
      if (isOfPackage) return EXTERNAL_PACKAGES.includes(toPackageName(path)) ? { path, external: true } : undefined
      if (path === 'tap' && importer !== CURRENT_TEST && importer !== RUN_GROUP)
        return { path, namespace: 'current test' }
      return INLINED.has(toPackageName(path)) ? undefined : { path, external: true }
    })
    onLoad({ filter: /^tap$/, namespace: 'current test' }, () => ({
      contents: `export { currentTest as default } from ${JSON.stringify(CURRENT_TEST)}`,
      resolveDir: import.meta.dirname,
    }))
  },
}

/** The package of an import such as `typebox/value` or `@nats-io/jetstream`. */
const toPackageName = (path: string) =>
  path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/')
