// npm test [-- files or folders]: installs what is missing, then runs the tests.
import { buildTap, installMissing, TEST_PACKAGES } from '../install/install.mjs'

installMissing(...TEST_PACKAGES)
buildTap()
await import('./run.mjs')
