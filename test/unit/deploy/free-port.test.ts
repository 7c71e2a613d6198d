import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import t from 'tap'
import type { Teardown } from '../../support/teardown.ts'

const MODULE = new URL('../../../deploy/local/engines/free-port.ts', import.meta.url).href
const EACH = 1_000

/** A process that asks for ports, listens on none of them and stays; the ports that it got. */
async function takePorts(t: Teardown): Promise<number[]> {
  const code = `const { freePort } = await import('${MODULE}'); const ports = []
    for (let n = 0; n < ${EACH}; n++) ports.push(await freePort())
    console.log(JSON.stringify(ports)); setInterval(() => {}, 1_000)`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  return JSON.parse(line)
}

t.test('two processes that ask for free ports at the same time never get the same one', async t => {
  const [some = [], others = []] = await Promise.all([takePorts(t), takePorts(t)])
  t.equal(new Set([...some, ...others]).size, 2 * EACH)
})
