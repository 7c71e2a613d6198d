// Bundles each program into one file of dist/, npm packages left outside.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from './install.mjs'

const PROGRAMS = {
  'control-plane': 'control-plane/main.ts',
  admin: 'control-plane/admin.ts',
  'probe-agent': 'probe-agent/main.ts',
  local: 'deploy/local/run.ts',
  demo: 'deploy/local/demo.ts',
  'clickhouse-server': 'deploy/local/engines/clickhouse-server.ts',
}

/** Builds what is there. Takes about a tenth of a second. */
export async function build() {
  const { build: bundle } = await import('esbuild')
  await bundle({
    absWorkingDir: ROOT,
    entryPoints: Object.fromEntries(Object.entries(PROGRAMS).filter(([, file]) => existsSync(join(ROOT, file)))),
    outdir: 'dist',
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    sourcemap: true,
    logLevel: 'warning',
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build()
