import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import t from 'tap'
import { Outcome } from '../../proto/gen/probe/v1/result.ts'
import { Screenshot } from '../../proto/gen/probe/v1/screenshot.ts'
import { SCREENSHOTS_STREAM } from '../../shared/nats/subjects.ts'
import { buildProbe } from '../../tools/probe-executable/build.mjs'
import { chromiumPath } from '../support/chromium-path.ts'
import { assignment, checkSpec, startFleetServer } from '../support/fleet-server.ts'
import { startNats } from '../support/nats.ts'
import { hasOwnNetwork } from '../support/own-network.ts'
import { startProbe } from '../support/probe.ts'
import { startProgram } from '../support/processes.ts'
import { collectResults } from '../support/result-collector.ts'
import { startTarget } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'

// takes about 50 s

const folder = mkdtempSync(join(tmpdir(), 'picket-executable-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
/** In a separate folder, without files of the checkout. */
const executable = await buildProbe(folder)

t.test('npm run build:probe creates an executable, its installer and their checksums', async t => {
  const [script, unit] = ['install-probe.sh', 'picket-probe.service']
  t.same(readdirSync(folder).sort(), ['SHA256SUMS', script, basename(executable), unit].sort())
  t.match(execFileSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: folder, encoding: 'utf8' }), /(.+: OK\n){3}/)
  t.match(execFileSync(executable, ['--version'], { encoding: 'utf8', env: {} }), /^\d+\.\d+\.\d+\n$/)
  const destdir = mkdtempSync(join(tmpdir(), 'picket-installed-'))
  t.teardown(() => rmSync(destdir, { recursive: true }))
  const env = { PATH: process.env.PATH, DESTDIR: destdir, FLEET_URL: 'fleet.example.com:443', PROBE_TOKEN: 'prb_x' }
  const output = execFileSync('sh', [join(folder, script)], { encoding: 'utf8', env })
  t.match(output, /^picket-probe \d+\.\d+\.\d+ is installed below/)
})

t.test('The executable checks, evaluates large pages in its thread, takes screenshots and serves metrics', async t => {
  const nats = await startNats(t)
  const collector = await collectResults(t, nats.url)
  const shots = await keepScreenshots(nats.url)
  const [large, failing] = await Promise.all([startTarget(t), startTarget(t)])
  large.behave({ kind: 'answer', status: 200, body: `${'<p>shop</p>'.repeat(40_000)}the end` })
  failing.behave({ kind: 'answer', status: 503, headers: { 'content-type': 'text/html' }, body: '<h1>Closed</h1>' })
  const fleet = await startFleetServer(t, { natsUrl: nats.url })
  const env = {
    CHROMIUM_PATH: chromiumPath(),
    METRICS_ADDRESS: '127.0.0.1:0',
    SCREENSHOT_TIMEOUT_SECONDS: '120',
    SCREENSHOT_NO_SANDBOX: '1',
  }
  const probe = startProbe(t, fleet.url, env, executable)
  const { capabilities } = await fleet.hello(1)
  t.ok(capabilities.includes('screenshot'))

  const assertions = [{ type: 'body', operator: 'matches', value: '(shop|the)[^x]* end$' }]
  const specs = {
    'm-large': checkSpec(large.url, { assertions }),
    'm-failing': checkSpec(failing.url, { screenshotOnFailure: true }),
  }
  await fleet.assign({
    upserts: Object.entries(specs).map(([id, spec]) => assignment(id, spec, { checkAtOnce: true })),
  })
  const [judged] = await collector.atLeast(1, 'm-large')
  t.match(judged, { outcome: Outcome.UP, statusCode: 200, error: undefined })
  const [down] = await collector.atLeast(1, 'm-failing')
  t.match(down, { outcome: Outcome.DOWN, statusCode: 503 })
  const shot = await waitFor(() => shots.first(), { label: 'a screenshot' })
  t.match(shot, { contentType: 'image/jpeg', order: { monitorId: 'm-failing' } })
  t.ok(shot.image.length > 2_000, 'a picture')
  await shots.close()
  const { port } = (await probe.untilEvent('metrics')).address
  t.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200)
  const scraped = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  t.match(scraped, /^picket_probe_agent_checks_total\{type="http",outcome="down"\} [1-9]/m)
  t.equal(await probe.stop(), 0, 'it drains and ends')
})

async function keepScreenshots(url: string) {
  const connection = await connect({ servers: url })
  const { streams } = await jetstreamManager(connection)
  await streams.add({ name: SCREENSHOTS_STREAM, subjects: [`${SCREENSHOTS_STREAM}.*`] })
  return {
    async first() {
      const { state } = await streams.info(SCREENSHOTS_STREAM)
      const message = state.messages > 0 && (await streams.getMessage(SCREENSHOTS_STREAM, { seq: state.first_seq }))
      return message ? Screenshot.decode(message.data) : null
    },
    close: () => connection.close(),
  }
}

// Without network namespaces the kernel settings cannot be changed.
if (hasOwnNetwork()) {
  t.test('The executable pings with the kernel’s socket, without another program', async t => {
    const allowed = 'echo "0 0" > /proc/sys/net/ipv4/ping_group_range && exec "$0"'
    const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user']
    const probe = startProgram(t, {
      program: '/usr/bin/unshare',
      args: ['--net', ...asRoot, 'sh', '-c', allowed, executable],
      env: { FLEET_URL: '127.0.0.1:1', PROBE_TOKEN: 'prb_x', DATA_DIR: join(folder, 'data'), CHROMIUM_PATH: 'off' },
    })
    t.match(await probe.untilEvent('icmp'), { ipv4: 'socket' })
  })
}
