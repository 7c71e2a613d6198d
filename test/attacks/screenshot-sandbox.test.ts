import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { type CaptureSettings, createScreenshotCapture } from '../../probe-agent/screenshots/capture.ts'
import { chromiumPath } from '../support/chromium-path.ts'
import { startProgram } from '../support/processes.ts'
import { startTarget } from '../support/target.ts'
import { HANG_MS } from '../support/wait.ts'

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const CONFINE = at('test/support/confine.mjs')
const PROFILE = at('deploy/probe/seccomp.json')

const dir = mkdtempSync(join(tmpdir(), 'picket-sandbox-'))
t.teardown(() => rmSync(dir, { recursive: true, force: true }))
const page = await startTarget(t)
page.behave({ kind: 'answer', headers: { 'content-type': 'text/html' }, body: '<h1>Shop</h1>' })

/** A module that applies a filter to its process and then runs a program. */
function confined(name: string, confine: string, program: string | null = 'dist/screenshot.js'): string {
  const file = join(dir, `${name}.mjs`)
  const next = program === null ? '' : `await import(${JSON.stringify(at(program))})\n`
  writeFileSync(file, `import { confineTo, forbidNamespaces } from ${JSON.stringify(CONFINE)}\n${confine}\n${next}`)
  return file
}

function openShutter(program: string, changes: Partial<CaptureSettings> = {}) {
  const seen: boolean[] = []
  const shutter = createScreenshotCapture({
    browser: { path: chromiumPath() },
    egressAllow: ['127.0.0.1'],
    egressDeny: [],
    mayLackSandbox: false,
    onSandbox: works => seen.push(works),
    memoryMb: 768,
    withinMs: HANG_MS,
    program,
    ...changes,
  })
  const take = () => shutter.take({ url: page.url, headers: {}, format: 'jpeg' })
  return { take, seen }
}

// without any filter: a container may forbid namespaces for all tests
const machine = openShutter(at('dist/screenshot.js'), { mayLackSandbox: true })
await machine.take()

t.test('No page is opened where the kernel does not allow a chromium sandbox', async t => {
  const program = confined('no-namespaces', 'forbidNamespaces()')
  const refused = openShutter(program)
  const before = page.requests.length
  await t.rejects(refused.take(), { message: /does not allow Chromium's sandbox.*SCREENSHOT_NO_SANDBOX=1/ })
  t.same(refused.seen, [false])
  t.equal(page.requests.length, before, 'the page was not requested')

  const allowed = openShutter(program, { mayLackSandbox: true })
  t.equal((await allowed.take()).statusCode, 200, 'the operator may allow that')
  t.same(allowed.seen, [false])
})

t.test('Under the shipped seccomp profile, chromium has its sandbox as an unprivileged user', async t => {
  const shutter = openShutter(confined('profile', `confineTo(${JSON.stringify(PROFILE)})`), {
    mayLackSandbox: machine.seen.includes(false),
  })
  const { statusCode, bytes } = await shutter.take()
  t.equal(statusCode, 200)
  t.ok(bytes.length > 1_000)
  t.same(shutter.seen, machine.seen)
})

t.test('A probe without a sandbox reports that in its log and as a metric', async t => {
  const rows = [
    ['without', 'forbidNamespaces()', 0],
    ['with', `confineTo(${JSON.stringify(PROFILE)})`, Number(machine.seen.includes(true))],
  ] as const
  for (const [name, confine, works] of rows) {
    const probe = startProgram(t, {
      program: 'dist/probe-agent.js',
      env: {
        NODE_OPTIONS: `--import=${confined(name, confine, null)}`,
        FLEET_URL: '127.0.0.1:1',
        PROBE_TOKEN: 'prb_x',
        DATA_DIR: join(dir, name),
        CHROMIUM_PATH: chromiumPath(),
        METRICS_ADDRESS: '127.0.0.1:0',
      },
    })
    const line = await probe.untilEvent('screenshot_sandbox')
    t.equal(line.works, works === 1)
    const { port } = (await probe.untilEvent('metrics')).address
    const scraped = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    t.match(scraped, new RegExp(`^picket_probe_agent_screenshot_sandbox ${works}$`, 'm'))
  }
})
