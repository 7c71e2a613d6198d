// Builds the programs and runs the given tests. Started by test.mjs and test-node.mjs when all packages are installed.
import { register } from 'tsx/esm/api'
import { build } from '../build/build.mjs'

await build()
register()
const { runTests } = await import('./run-tests.ts')
process.exit(await runTests(process.argv.slice(2)))
