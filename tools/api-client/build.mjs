// Compiles the client into a package that can be published: dist/client.
import { execFileSync } from 'node:child_process'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../install/install.mjs'

/** Takes about a second. Throws when the compiler reports an error. */
export function buildClient(folder = join(ROOT, 'dist/client')) {
  const source = join(ROOT, 'deploy/client')
  rmSync(folder, { recursive: true, force: true })
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', source, '--outDir', folder], { stdio: 'inherit' })
  for (const name of ['package.json', 'README.md', 'LICENSE']) copyFileSync(join(source, name), join(folder, name))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildClient()
