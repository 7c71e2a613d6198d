// Builds the scripts, styles and fonts of the dashboard, which programs contain: this plugin replaces the module
// control-plane/dashboard/assets.ts.
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ROOT } from '../install/install.mjs'

const FOLDER = 'control-plane/dashboard'
const BROWSERS = ['chrome111', 'firefox115', 'safari16.4']

/**
 * Resolves to the files by path, `{ '/assets/main-ABCD1234.js': { contentType, base64 } }`, the paths of the first script and
 * of the style sheet, the paths of all scripts that every page loads, those of each screen that is loaded later, those of the wallboard, and the source files that were read. The name of each
 * file contains a hash of its content.
 */
export async function makeDashboardAssets() {
  const { build } = await import('esbuild')
  const options = {
    absWorkingDir: ROOT,
    outdir: 'assets',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    publicPath: '/assets',
    bundle: true,
    splitting: true,
    minify: true,
    charset: 'utf8',
    format: 'esm',
    target: BROWSERS,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.woff2': 'file' },
    define: { 'process.env.NODE_ENV': '"production"' },
    write: false,
    metafile: true,
    logLevel: 'warning',
  }
  const { outputFiles, metafile } = await build({
    ...options,
    plugins: [oneSharedChunk, withoutUnusedModules],
    entryPoints: { main: `${FOLDER}/browser/main.tsx`, style: `${FOLDER}/browser/styles/index.css` },
  })
  // on its own, so that pages of the dashboard load nothing of it
  const wall = await build({
    ...options,
    entryPoints: { wall: `${FOLDER}/wall/browser/main.tsx`, 'wall-style': `${FOLDER}/wall/browser/wall.css` },
  })
  const files = {}
  for (const { path, contents } of [...outputFiles, ...wall.outputFiles]) {
    const name = basename(path)
    files[`/assets/${name}`] = { contentType: findType(name), base64: Buffer.from(contents).toString('base64') }
  }
  const names = Object.keys(files)
  const find = pattern => names.find(name => pattern.test(name))
  return {
    files,
    script: find(/^\/assets\/main-\w+\.js$/),
    style: find(/^\/assets\/style-\w+\.css$/),
    everywhere: listStaticImports(metafile.outputs, find(/^\/assets\/main-\w+\.js$/).slice(1)),
    later: listDynamicImports(metafile.outputs).map(path => listStaticImports(metafile.outputs, path)),
    wallScript: find(/^\/assets\/wall-\w+\.js$/),
    wallStyle: find(/^\/assets\/wall-style-\w+\.css$/),
    inputs: [...new Set([metafile, wall.metafile].flatMap(one => Object.keys(one.inputs)))],
  }
}

/**
 * Puts everything that every page loads into one file. The bundler makes a file of each set of modules that the same scripts
 * share: dozens of small ones, which compress badly. Screens that are loaded later therefore import all that is there already.
 */
const oneSharedChunk = {
  name: 'one shared chunk',
  setup({ onResolve, onLoad, resolve }) {
    const later = new Set()
    onResolve({ filter: /^\./ }, async ({ kind, path, pluginData, ...from }) => {
      if (kind !== 'dynamic-import' || pluginData === later) return null
      const resolved = await resolve(path, { kind, pluginData: later, ...from })
      later.add(resolved.path)
      return resolved
    })
    onLoad({ filter: /\/control-plane\/dashboard\/.*\.tsx?$/ }, ({ path }) => {
      if (!later.has(path)) return null
      const contents = `import ${JSON.stringify(join(ROOT, FOLDER, 'browser/app.tsx'))}\n${readFileSync(path, 'utf8')}`
      return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' }
    })
  },
}

/** Modules of packages that the dashboard does not use, their exports, and what is used instead. */
const UNUSED_MODULES = [
  // pages follow the stream of events by the `EventSource` of the browser
  [/\/deploy\/client\/gen\/core\/serverSentEvents\.gen\.ts$/, ['createSseClient'], 'followChanges'],
  [/\/query-core\/build\/modern\/mutation\.js$/, ['Mutation', 'getDefaultState'], 'execute'],
  [
    /\/query-core\/build\/modern\/infiniteQueryBehavior\.js$/,
    ['infiniteQueryBehavior', 'hasNextPage', 'hasPreviousPage'],
    'one query for each page of a list',
  ],
]

const refuse = (name, instead) => `export function ${name}() { throw new Error(${JSON.stringify(`use ${instead}`)}) }`

/** Leaves out the unused modules: a call of an export throws, and the bundler reports one that is missing here. */
const withoutUnusedModules = {
  name: 'without unused modules',
  setup({ onLoad }) {
    for (const [filter, names, instead] of UNUSED_MODULES)
      onLoad({ filter }, () => ({ contents: names.map(name => refuse(name, instead)).join('\n') }))
  },
}

/** The paths of a script and of everything that it imports at once. */
function listStaticImports(outputs, first) {
  const reached = new Set([first])
  for (const path of reached)
    for (const { path: next, kind } of outputs[path].imports) if (kind === 'import-statement') reached.add(next)
  return [...reached].map(path => `/${path}`)
}

/** The scripts that are loaded when they are needed. */
const listDynamicImports = outputs => [
  ...new Set(
    Object.values(outputs)
      .flatMap(({ imports }) => imports)
      .filter(({ kind }) => kind === 'dynamic-import')
      .map(({ path }) => path),
  ),
]

const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', woff2: 'font/woff2' }
const findType = name => TYPES[name.split('.').at(-1)]

/** Several bundles of one run contain the same assets. */
let made
/** The source files of the dashboard's assets that the last build read. */
export const dashboardInputs = async () => (await made)?.inputs ?? []

/** Replaces the module by the files that it describes. */
export const dashboardAssets = {
  name: 'dashboard assets',
  setup({ onLoad }) {
    made = undefined
    onLoad({ filter: /\/control-plane\/dashboard\/assets\.ts$/ }, async ({ path }) => {
      made ??= makeDashboardAssets()
      const { inputs, everywhere: _, later: __, ...assets } = await made
      const source = readFileSync(path, 'utf8')
      const watchFiles = inputs.map(file => join(ROOT, file))
      return {
        contents: source.replace(/ = NO_ASSETS\b/, () => ` = ${JSON.stringify(assets)}`),
        loader: 'ts',
        watchFiles,
      }
    })
  },
}
