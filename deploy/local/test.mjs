// npm test [-- files or folders]: installs what a fresh clone lacks, then runs the tests.
import {
  buildTap,
  installBlackbox,
  installChromium,
  installNats,
  installPackages,
  installPing,
  installPrometheus,
} from './install.mjs'

installPackages()
buildTap()
installNats()
installBlackbox()
installPrometheus()
installPing()
installChromium()
const { build } = await import('./build.mjs')
await build()
const { register } = await import('tsx/esm/api')
register()
const { runTests } = await import('./test.ts')
process.exit(await runTests(process.argv.slice(2)))
