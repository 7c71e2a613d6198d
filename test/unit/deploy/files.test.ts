import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { connectNats, ensureStreams } from '../../../control-plane/foundation/platform/nats/client.ts'
import {
  buildServerConfiguration,
  generateOperatorSeed,
  parseOperatorSeed,
} from '../../../control-plane/foundation/platform/nats/operator.ts'
import { createNatsObjectStore } from '../../../control-plane/foundation/platform/object-storage/nats-bucket.ts'
import { bucketStream, LATE_STREAM, RESULTS_STREAM, SCREENSHOTS_BUCKET } from '../../../shared/nats/subjects.ts'
import { reserveFreePort } from '../../../tools/engines/free-port.ts'
import { spawnBound } from '../../../tools/engines/process.ts'
import { assertListening } from '../../../tools/processes/reachable.ts'
import { createAuthority } from '../../support/certificates.ts'
import { listVariables, ROOT, readText, readYaml } from '../../support/deployment.ts'
import { waitFor } from '../../support/wait.ts'

const folder = mkdtempSync(join(tmpdir(), 'picket-deploy-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const seed = generateOperatorSeed()
const operator = parseOperatorSeed(seed)!

const GIB = 1024 ** 3
const conf = readText('deploy/compose/nats.conf')
const compose = readYaml('deploy/compose/compose.yaml')
// the default of a variable of Compose: ${NAME:-default}
const [, maxFileStore = ''] = /:-(.*)\}$/.exec(compose.services.nats.environment.NATS_MAX_FILE_STORE) ?? []
const natsEnv = { ...process.env, NATS_MAX_FILE_STORE: maxFileStore }
const durable = /^\s*sync_interval: always$/m

/** Writes nats.conf with these permissions. nats-server 2.9, which Debian has, supports everything except `durable`. */
function writeNatsConf(permissions: string, text = conf) {
  const version = execFileSync('nats-server', ['--version'], { encoding: 'utf8' })
  writeFileSync(join(folder, 'nats.conf'), / v2\.[0-9]\./.test(version) ? text.replace(durable, '') : text)
  writeFileSync(join(folder, 'nats-operator.conf'), permissions)
}

/** nats.conf with files in the temporary folder, the port, and an address for its state if one is given. */
const withPaths = (port: number, http = '') =>
  conf
    .replace(/^port: 4222$/m, `port: ${port}`)
    .replace(/^http: .*$/m, http)
    .replace('/data/jetstream', join(folder, 'jetstream'))

async function startServer(t: Test, port: number, file: string): Promise<void> {
  const server = spawnBound({
    command: 'nats-server',
    args: ['--config', join(folder, file)],
    logFile: join(folder, 'nats.log'),
    stopSignal: 'SIGTERM',
    env: natsEnv,
  })
  t.teardown(server.stop)
  const answers = () =>
    assertListening('NATS_URL', `nats://127.0.0.1:${port}`, port).then(
      () => true,
      () => false,
    )
  await waitFor(answers, { label: 'nats-server' })
}

t.test('nats-server accepts nats.conf, with and without an operator', async t => {
  t.match(conf, durable, 'what was acknowledged is on disk')
  for (const text of ['', buildServerConfiguration(operator, join(folder, 'accounts'))]) {
    writeNatsConf(text)
    const args = ['-t', '-c', join(folder, 'nats.conf')]
    const { status, stderr } = spawnSync('nats-server', args, { encoding: 'utf8', env: natsEnv })
    t.equal(status, 0, stderr)
  }
  t.match(conf, /^include nats-operator\.conf$/m)
  const { volumes } = compose.services.nats
  for (const file of ['nats.conf', 'nats-operator.conf']) t.ok(volumes.includes(`./${file}:/etc/nats/${file}:ro`))
})

t.test('With nats-tls.yaml, NATS has TLS, and control planes connect at its public name', async t => {
  const { services } = readYaml('deploy/compose/nats-tls.yaml')
  t.same(services.nats.command, ['--config', '/etc/nats/nats-tls.conf'])
  t.ok(services.nats.volumes.includes('./nats-tls.conf:/etc/nats/nats-tls.conf:ro'))
  t.ok(services.nats.volumes.includes('./nats-tls:/etc/nats/tls:ro'))
  const { ca, issue } = createAuthority(t)
  const { cert, key } = issue('localhost', -1, 5)
  for (const [name, text] of Object.entries({ 'tls.crt': cert, 'tls.key': key, 'ca.crt': ca }))
    writeFileSync(join(folder, name), text)
  writeFileSync(
    join(folder, 'nats-tls.conf'),
    readText('deploy/compose/nats-tls.conf').replaceAll('/etc/nats/tls', folder),
  )
  const port = await reserveFreePort()
  writeNatsConf(buildServerConfiguration(operator, join(folder, 'accounts')), withPaths(port))
  await startServer(t, port, 'nats-tls.conf')
  const url = services['control-plane-1'].environment.NATS_URL.replace(/\$\{NATS_DOMAIN.*\}:4222/, `localhost:${port}`)
  const script = `import { connectNats } from './control-plane/foundation/platform/nats/client.ts'
import { parseOperatorSeed } from './control-plane/foundation/platform/nats/operator.ts'
const nats = await connectNats(process.argv[1], 'test', parseOperatorSeed(process.env.SEED))
await nats.close()`
  const args = ['--import', 'tsx', '--input-type=module', '-e', script, url]
  const env = { PATH: process.env.PATH, SEED: seed, NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt') }
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', env })
  t.equal(status, 0, stderr)
})

t.test(
  'NATS reserves as much of the disk as compose.yaml says, whatever is free, and all streams fit into it',
  async t => {
    const [port, httpPort] = [await reserveFreePort(), await reserveFreePort()]
    writeNatsConf('', withPaths(port, `http: 127.0.0.1:${httpPort}`))
    await startServer(t, port, 'nats.conf')
    const state = await (await fetch(`http://127.0.0.1:${httpPort}/varz`)).json()
    t.equal(state.jetstream.config.max_storage, Number.parseInt(maxFileStore, 10) * GIB)
    t.match(readText('deploy/compose/example.env'), `\nNATS_MAX_FILE_STORE=${maxFileStore}\n`)
    const nats = await connectNats(`nats://127.0.0.1:${port}`, 'test')
    t.teardown(() => nats.close())
    await ensureStreams(nats.manager)
    await createNatsObjectStore(nats, SCREENSHOTS_BUCKET).get('none')
    const sizes = [RESULTS_STREAM, LATE_STREAM, bucketStream(SCREENSHOTS_BUCKET)].map(async name => {
      const { config } = await nats.manager.streams.info(name)
      return config.max_bytes / GIB
    })
    t.same(await Promise.all(sizes), [16, 4, 8], 'none is halved for want of room')
  },
)

t.test('The systemd unit gives the probe no privileges and time to drain', async t => {
  const unit = readText('deploy/probe/picket-probe.service')
  for (const line of ['DynamicUser=yes', 'NoNewPrivileges=yes', 'CapabilityBoundingSet=', 'ProtectSystem=strict'])
    t.ok(unit.split('\n').includes(line), line)
  t.match(unit, /^TimeoutStopSec=90$/m)
  const set = [...unit.matchAll(/^Environment=(\w+)=/gm)].map(found => found[1]!)
  t.same(
    set.filter(name => !listVariables('probe-agent').has(name)),
    [],
  )
  if (!existsSync('/usr/bin/systemd-analyze')) return
  // systemd-analyze requires that the program exists
  const file = join(folder, 'picket-probe.service')
  writeFileSync(file, unit.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'))
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
  t.equal(status, 0, stderr)
  t.notMatch(stderr, /picket-probe\.service/, 'nothing is unknown')
})

t.test('caddy accepts the Caddyfile', async t => {
  const caddyfile = readText('deploy/compose/Caddyfile')
  t.equal(caddyfile.match(/\{/g)?.length, caddyfile.match(/\}/g)?.length)
  if (spawnSync('caddy', ['version']).error) return
  const { DOMAIN, FLEET_DOMAIN, ...rest } = readYaml('deploy/compose/compose.yaml').services.caddy.environment
  const env = { PATH: process.env.PATH, HOME: folder, ...rest, DOMAIN: 'a.example.com', FLEET_DOMAIN: 'b.example.com' }
  t.ok(DOMAIN && FLEET_DOMAIN)
  const args = ['validate', '--adapter', 'caddyfile', '--config', join(ROOT, 'deploy/compose/Caddyfile')]
  const { status, stderr } = spawnSync('caddy', args, { encoding: 'utf8', env })
  t.equal(status, 0, stderr)
})
