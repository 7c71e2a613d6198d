// npm test [-- files or folders]: installs what is missing, then runs the tests.
import { BLACKBOX, buildTap, CHROMIUM, installMissing, NATS, PACKAGES, PING, PROMETHEUS } from '../install/install.mjs'

installMissing(PACKAGES, NATS, BLACKBOX, PROMETHEUS, PING, CHROMIUM)
buildTap()
const { build } = await import('../build/build.mjs')
await build()
const { register } = await import('tsx/esm/api')
register()
const { runTests } = await import('./run-tests.ts')
process.exit(await runTests(process.argv.slice(2)))
