// npm start (and, with --demo, npm run demo): installs what is missing, builds, and runs everything on this machine.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { installMissing, NATS, PACKAGES, PING } from '../install/install.mjs'

installMissing(PACKAGES, ...(process.env.NATS_URL ? [] : [NATS]), PING)
// in a separate process, so that this one does not keep the memory of the build
execFileSync(process.execPath, [fileURLToPath(new URL('../build/build.mjs', import.meta.url))], { stdio: 'inherit' })
if (process.argv.includes('--demo')) {
  const { demo } = await import('../../dist/demo.js')
  await demo()
} else {
  const { run } = await import('../../dist/local.js')
  await run()
}
