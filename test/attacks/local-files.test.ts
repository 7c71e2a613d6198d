import { chmodSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startNats } from '../../tools/engines/nats.ts'
import { createTestFolder } from '../../tools/engines/test-folder.ts'
import { openDataDir } from '../../tools/processes/data-dir.ts'

const folder = createTestFolder()
t.teardown(() => rmSync(folder, { recursive: true }))
const [READ, ALL] = [0o044, 0o077]
const bitsOfOthers = (path: string, bits: number) => statSync(path).mode & bits

t.test('Other users of the machine cannot read logs and data of npm start, even if they could before', async t => {
  const dataDir = join(folder, 'data')
  for (const name of ['logs', 'nats']) {
    mkdirSync(join(dataDir, name), { recursive: true })
    chmodSync(join(dataDir, name), 0o755)
  }
  chmodSync(dataDir, 0o755)
  const release = openDataDir(dataDir)
  t.teardown(release)
  const nats = await startNats({
    dataDir: join(dataDir, 'nats'),
    logFile: join(dataDir, 'logs/nats.log'),
    port: 0,
    operator: null,
  })
  t.teardown(() => nats.stop())
  t.equal(bitsOfOthers(dataDir, READ), 0, 'what is in the directory')
  for (const name of ['logs', 'nats']) t.equal(bitsOfOthers(join(dataDir, name), ALL), 0, name)
})
