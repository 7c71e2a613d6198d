// npm run build:probe: builds the probe as a single executable without Node or npm, in dist/probe/, with its installer and
// checksums. The executable is for the platform of the build and contains the Node that builds it (20.15 or newer).
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installMissing, PACKAGES, ROOT } from '../install/install.mjs'

const OUT = join(ROOT, 'dist/probe')
const PLATFORM = `${process.platform}-${process.arch}`
/** Marks the place in the Node binary that enables the embedded program. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/** The folder of a package. It is searched when it is needed, because in a fresh clone it is installed first. */
const findPackage = name => dirname(createRequire(import.meta.url).resolve(name))
/** The only native library, which probes use for ICMP sockets. */
const findKoffi = () => join(findPackage(`@koromix/koffi-${PLATFORM}`), PLATFORM.replace('-', '_'), 'koffi.node')

const COMMON = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  minifyWhitespace: true,
  write: false,
  logLevel: 'warning',
}

/** Fills a folder as install-probe.sh expects it. Returns the path of the executable. */
export async function buildProbe(folder = OUT) {
  mkdirSync(folder, { recursive: true })
  const workDir = mkdtempSync(join(folder, 'build-'))
  try {
    const made = join(workDir, 'executable')
    copyFileSync(process.execPath, made)
    const blob = makeBlob(workDir, await bundle())
    run([join(findPackage('postject'), 'cli.js'), made, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE])
    chmodSync(made, 0o755)
    const executable = join(folder, `picket-probe-${PLATFORM}`)
    renameSync(made, executable)
    const others = ['deploy/probe/picket-probe.service', 'deploy/probe/install-probe.sh'].map(file => {
      copyFileSync(join(ROOT, file), join(folder, basename(file)))
      return join(folder, basename(file))
    })
    writeFileSync(join(folder, 'SHA256SUMS'), [executable, ...others].map(sumLine).join(''))
    return executable
  } finally {
    rmSync(workDir, { recursive: true, force: true })
  }
}

const sumLine = file => `${createHash('sha256').update(readFileSync(file)).digest('hex')}  ${basename(file)}\n`

/** The program with all its packages as one CommonJS text, the only format that Node supports in an executable. */
async function bundle() {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const { build } = await import('esbuild')
  const thread = await build({ ...COMMON, entryPoints: ['probe-agent/execution/assertion-thread.ts'] })
  const program = await build({
    ...COMMON,
    entryPoints: ['tools/probe-executable/main.ts'],
    banner: { js: "const OWN_URL = require('node:url').pathToFileURL(process.execPath).href;" },
    define: {
      'import.meta.url': 'OWN_URL',
      ASSERTION_THREAD: JSON.stringify(thread.outputFiles[0].text),
      PROBE_VERSION: JSON.stringify(version),
    },
    external: ['@sparticuz/chromium'],
    plugins: [{ name: 'embed-files', setup: embedFiles }],
  })
  return program.outputFiles[0].text
}

/** Embeds the files that the program would read from disk. */
function embedFiles({ onResolve, onLoad }) {
  onResolve({ filter: /^node:module$/ }, ({ importer }) =>
    importer.includes('node_modules') ? null : { path: join(ROOT, 'tools/probe-executable/require.ts') },
  )
  onLoad({ filter: /playwright-core\/lib\/coreBundle\.js$/ }, ({ path }) => {
    const fromDisk = /require\([\w.]+\.join\(packageRoot, "(package|browsers)\.json"\)\)/g
    const text = readFileSync(path, 'utf8')
    const found = text.match(fromDisk)?.length
    if (found !== 2)
      throw new Error(
        `expected 2 files that playwright-core reads from disk, found ${found ?? 0}; adapt this plugin to its new version`,
      )
    return { contents: text.replace(fromDisk, 'require("../$1.json")') }
  })
}

/** Creates the blob to embed: the program, and koffi as an asset. Returns its path. */
function makeBlob(workDir, program) {
  const [main, output, config] = ['program.cjs', 'blob', 'sea.json'].map(name => join(workDir, name))
  writeFileSync(main, program)
  const assets = { 'koffi.node': findKoffi() }
  writeFileSync(config, JSON.stringify({ main, output, disableExperimentalSEAWarning: true, assets }))
  run(['--experimental-sea-config', config])
  return output
}

/** Runs a Node program. Its output is hidden unless it fails, because postject prints irrelevant warnings. */
function run(args) {
  execFileSync(process.execPath, args, { stdio: 'pipe' })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  installMissing(PACKAGES)
  console.log(await buildProbe())
}
