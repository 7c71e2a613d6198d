// npm start (and, with --demo, npm run demo): installs what a fresh clone lacks, builds, runs everything on this machine.
import { installNats, installPackages, installPing } from './install.mjs'

installPackages()
if (!process.env.NATS_URL) installNats()
installPing()
const { build } = await import('./build.mjs')
await build()
if (process.argv.includes('--demo')) {
  const { demo } = await import('../../dist/demo.js')
  await demo()
} else {
  const { run } = await import('../../dist/local.js')
  await run()
}
