import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { connectNats } from '../../control-plane/foundation/platform/nats/client.ts'
import { startNats } from '../support/nats.ts'

const MIB = 1024 * 1024

/** Takes space of the disk on which `startNats` has its files. */
function fillDisk(t: Test, bytes: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'picket-filler-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  execFileSync('fallocate', ['--length', String(bytes), join(folder, 'filler')])
}

t.test('The embedded NATS opens all of its streams on a disk that became fuller', async t => {
  const server = await startNats(t)
  const open = async () => {
    const nats = await connectNats(server.url, 'test')
    t.teardown(() => nats.close())
    return nats
  }
  const before = await open()
  const created: string[] = []
  // everything that it may reserve
  for (let bytes = 2 ** 50; bytes >= MIB; bytes /= 2) {
    const name = `HOG${bytes}`
    const hog = { name, subjects: [`hog.${bytes}`], max_bytes: bytes }
    const isCreated = await before.manager.streams.add(hog).then(
      () => true,
      () => false,
    )
    if (!isCreated) continue
    await before.js.publish(`hog.${bytes}`, 'kept')
    created.push(name)
  }
  t.ok(created.length > 0)
  await server.stop()
  fillDisk(t, 256 * MIB)
  await server.restart()

  const after = await open()
  const found: string[] = []
  for await (const { config, state } of after.manager.streams.list()) if (state.messages === 1) found.push(config.name)
  t.same(found.sort(), created.sort(), 'with their messages')
  await after.js.publish(created[0]!.replace('HOG', 'hog.'), 'more')
})
