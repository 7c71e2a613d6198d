import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createScreenshotCapture } from '../../../../probe-agent/screenshots/capture.ts'
import { removeStaleProfiles } from '../../../../probe-agent/screenshots/chromium/browser-profile.ts'
import { waitFor } from '../../../support/wait.ts'

const folder = mkdtempSync(join(tmpdir(), 'picket-test-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const wanted = { url: 'http://192.0.2.1/', headers: {}, format: 'png' } as const

/** A capture whose program is the given source. */
function createShutter(source: string, withinMs = 120_000) {
  const program = join(mkdtempSync(join(folder, 'program-')), 'program.mjs')
  writeFileSync(program, `const say = text => new Promise(done => process.stdout.write(text, done))\n${source}`)
  return createScreenshotCapture({
    browser: { path: '/bin/false' },
    egressAllow: [],
    egressDeny: [],
    mayLackSandbox: false,
    memoryMb: 1,
    program,
    withinMs,
  })
}

t.test('A capture returns a picture or the reason for the failure', async t => {
  const head = JSON.stringify({ statusCode: 200, contentType: 'image/png' })
  t.same(await createShutter(`await say('${head}\\nabc')`).take(wanted), {
    statusCode: 200,
    contentType: 'image/png',
    bytes: Buffer.from('abc'),
  })
  const lasts = 'setInterval(() => {}, 1000); await new Promise(() => {})'
  const rows: [string, string, string, number?][] = [
    ['it has no time to say so', lasts, 'the capture took too long', 1],
    ['it never lets go', 'for (;;);', 'the capture took too long', 1],
    ['it is killed', `process.kill(process.pid, 'SIGKILL'); ${lasts}`, 'exited unexpectedly (SIGKILL)'],
    ['it breaks', 'throw new Error()', 'exited unexpectedly (1)'],
    ['it says nothing', '', 'exited unexpectedly (0)'],
    ['half a picture', `await say('${head}\\nabc'); process.exit(1)`, 'exited unexpectedly (1)'],
    ['too large a picture', `await say(Buffer.alloc(2e6, 'a')); ${lasts}`, 'the picture is too large'],
  ]
  await Promise.all(
    rows.map(async ([name, source, message, withinMs]) => {
      await t.rejects(
        createShutter(source, withinMs).take(wanted),
        { message: new RegExp(message.replace(/[()]/g, '.')) },
        name,
      )
    }),
  )
})

t.test('A capture process that reports an error and does not exit is killed, and its error is used', async t => {
  const marker = join(folder, 'said')
  const shutter = createShutter(
    `import { writeFileSync } from 'node:fs'
     await say('{"error":"the page is stuck"}\\n')
     writeFileSync(${JSON.stringify(marker)}, '')
     setInterval(() => {}, 1000)`,
  )
  const rejected = t.rejects(shutter.take(wanted), { message: 'the page is stuck' })
  await waitFor(() => existsSync(marker), { label: 'what it says' })
  shutter.stop()
  await rejected
})

t.test('A probe that stops does not wait for a picture', async t => {
  const shutter = createShutter('setInterval(() => {}, 1000)')
  const picture = shutter.take(wanted)
  const stopping = setInterval(shutter.stop, 20)
  await t.rejects(picture, { message: 'the probe is stopping' })
  clearInterval(stopping)
})

t.test('Profiles of browsers of killed probes are removed, and those of running probes are kept', async t => {
  const { pid: ended } = spawnSync('true')
  const [left, taken] = [ended, process.ppid].map(pid => mkdtempSync(join(tmpdir(), `picket-browser-${pid}-`)))
  t.teardown(() => rmSync(taken!, { recursive: true }))
  writeFileSync(join(left!, 'Cookies'), '')
  await removeStaleProfiles()
  t.equal(existsSync(left!), false)
  t.equal(existsSync(taken!), true)
})
