import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { buildSync } from 'esbuild'
import t from 'tap'
import { reserveFreePort, reservePort } from '../../../tools/engines/free-port.ts'
import type { Teardown } from '../../support/teardown.ts'

const folder = mkdtempSync(join(tmpdir(), 'picket-free-port-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
/** JavaScript, because each process would compile the source. */
const MODULE = join(folder, 'free-port.mjs')
buildSync({
  entryPoints: [join(import.meta.dirname, '../../../tools/engines/free-port.ts')],
  outfile: MODULE,
  platform: 'node',
  format: 'esm',
})

const EACH = 1_000
const toFilePath = (port: number) => join(tmpdir(), `picket-ports-${userInfo().uid}`, String(port))

/** A process that reserves ports, does not listen on them and keeps running; the reserved ports. */
function takePorts(t: Teardown): Promise<number[]> {
  const code = `const { reserveFreePort } = await import('${MODULE}'); const ports = []
    for (let n = 0; n < ${EACH}; n++) ports.push(await reserveFreePort())
    console.log(JSON.stringify(ports)); setInterval(() => {}, 1_000)`
  return runCode(t, code)
}

/** The output of a process that runs this code until the end of the test. */
async function runCode<T>(t: Teardown, code: string): Promise<T> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  return JSON.parse(line)
}

t.test('Two processes that reserve free ports at the same time get different ports', async t => {
  const [some = [], others = []] = await Promise.all([takePorts(t), takePorts(t)])
  t.equal(new Set([...some, ...others]).size, 2 * EACH)
})

t.test('Only one of several simultaneous processes gets a port, also after a process that has exited', async t => {
  const port = await reserveFreePort()
  const wish = (then: string) => `const { reservePort } = await import('${MODULE}')
    console.log(JSON.stringify(await reservePort(${port}))); ${then}`
  const ask = (then: string) => runCode(t, wish(then))
  // this process holds the port while it runs, so the file is changed to a process that has exited
  const ended = spawn(process.execPath, ['-e', ''])
  await once(ended, 'exit')
  writeFileSync(toFilePath(port), String(ended.pid))
  const got = await Promise.all(Array.from({ length: 4 }, () => ask('setInterval(() => {}, 1_000)')))
  t.equal(got.filter(Boolean).length, 1)
})

t.test('A port is free when its process has exited, even if its id is reused', async t => {
  const port = await reserveFreePort()
  const [pid, startedAt] = readFileSync(toFilePath(port), 'utf8').split(' ')
  t.equal(Number(pid), process.pid)
  t.match(startedAt, /^\d+$/)
  t.notOk(await reservePort(port), 'this process has it')

  // as after the restart of a container: the same id and the same files
  writeFileSync(toFilePath(port), `${pid} ${Number(startedAt) - 1}`)
  t.ok(await reservePort(port), 'its own id, of an earlier process')
  t.notOk(await reservePort(port))
  writeFileSync(toFilePath(port), String(process.pid))
  t.ok(await reservePort(port), 'its own id, of a process of the version before')
  writeFileSync(toFilePath(port), `${process.ppid} 1`)
  t.ok(await reservePort(port), 'the id of a process that runs, and started later')
  writeFileSync(toFilePath(port), String(process.ppid))
  t.notOk(await reservePort(port), 'one that did not say when it started')
})
