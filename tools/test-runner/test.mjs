// npm test [-- files or folders]: installs what is missing, then runs the tests. --installed: test-node.mjs has installed it.
import { buildTap, installMissing, OTHER_BROWSERS, TEST_PACKAGES } from '../install/install.mjs'

const given = process.argv.slice(2)
const files = given.filter(word => word !== '--installed')
if (files.length === given.length) {
  const isInBrowsers = files.some(file => file.startsWith('test/browsers'))
  installMissing(...TEST_PACKAGES, ...(isInBrowsers ? OTHER_BROWSERS : []))
  buildTap()
}
const { build } = await import('../build/build.mjs')
await build()
const { register } = await import('tsx/esm/api')
register()
const { runTests } = await import('./run-tests.ts')
process.exit(await runTests(files))
