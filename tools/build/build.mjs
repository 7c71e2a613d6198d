// Bundles each program into one file of dist/. npm packages remain external.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../install/install.mjs'

export const PROGRAMS = {
  'control-plane': 'control-plane/main.ts',
  admin: 'control-plane/admin.ts',
  'examine-worker': 'control-plane/integrations/data-sources/evaluation/examine-worker.ts',
  'convert-worker': 'control-plane/integrations/import-export/converters/convert-worker.ts',
  'css-worker': 'control-plane/pages/core/custom-css/css-worker.ts',
  'yaml-worker': 'control-plane/integrations/import-export/file/yaml-worker.ts',
  'probe-agent': 'probe-agent/main.ts',
  'assertion-thread': 'probe-agent/execution/assertion-thread.ts',
  screenshot: 'probe-agent/screenshots/main.ts',
  local: 'tools/start/run.ts',
  demo: 'tools/demo/demo.ts',
  'clickhouse-server': 'tools/engines/clickhouse/clickhouse-server.ts',
}

/**
 * Takes about 0.1 s. Unchanged files are not written, so that starting programs read complete files. Throws when the source
 * of a program does not exist, because a program of dist/ would be missing only when it is started.
 */
export async function build() {
  const missing = Object.values(PROGRAMS).filter(file => !existsSync(join(ROOT, file)))
  if (missing.length > 0)
    throw new Error(`PROGRAMS in tools/build/build.mjs lists files that do not exist: ${missing.join(', ')}`)
  const { build: bundle, stop } = await import('esbuild')
  const { outputFiles } = await bundle({
    absWorkingDir: ROOT,
    entryPoints: PROGRAMS,
    outdir: 'dist',
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    sourcemap: true,
    // without the sources, because Node keeps source maps in memory
    sourcesContent: false,
    write: false,
    logLevel: 'warning',
  })
  // otherwise esbuild's process keeps running, with the memory of the build
  await stop()
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  for (const { path, contents } of outputFiles) {
    if (existsSync(path) && readFileSync(path).equals(contents)) continue
    // unique, because another start may build at the same time
    const written = `${path}.${process.pid}.new`
    writeFileSync(written, contents)
    renameSync(written, path)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build()
