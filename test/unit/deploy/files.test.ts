import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import {
  buildServerConfiguration,
  generateOperatorSeed,
  parseOperatorSeed,
} from '../../../control-plane/foundation/platform/nats/operator.ts'
import { ROOT, textOf, variablesOf, yamlOf } from '../../support/deployment.ts'

const folder = mkdtempSync(join(tmpdir(), 'picket-deploy-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

t.test('nats-server accepts nats.conf, with and without an operator', async t => {
  const conf = textOf('deploy/compose/nats.conf')
  const durable = /^\s*sync_interval: always$/m
  t.match(conf, durable, 'what was acknowledged is on disk')
  // nats-server 2.9, which Debian has, supports everything except this
  const version = execFileSync('nats-server', ['--version'], { encoding: 'utf8' })
  writeFileSync(join(folder, 'nats.conf'), / v2\.[0-9]\./.test(version) ? conf.replace(durable, '') : conf)
  const operator = parseOperatorSeed(generateOperatorSeed())!
  for (const text of ['', buildServerConfiguration(operator, join(folder, 'accounts'))]) {
    writeFileSync(join(folder, 'nats-operator.conf'), text)
    const { status, stderr } = spawnSync('nats-server', ['-t', '-c', join(folder, 'nats.conf')], { encoding: 'utf8' })
    t.equal(status, 0, stderr)
  }
  t.match(conf, /^include nats-operator\.conf$/m)
  const { volumes } = yamlOf('deploy/compose/compose.yaml').services.nats
  for (const file of ['nats.conf', 'nats-operator.conf']) t.ok(volumes.includes(`./${file}:/etc/nats/${file}:ro`))
})

t.test('The systemd unit gives the probe no privileges and time to drain', async t => {
  const unit = textOf('deploy/probe/picket-probe.service')
  for (const line of ['DynamicUser=yes', 'NoNewPrivileges=yes', 'CapabilityBoundingSet=', 'ProtectSystem=strict'])
    t.ok(unit.split('\n').includes(line), line)
  t.match(unit, /^TimeoutStopSec=90$/m)
  const set = [...unit.matchAll(/^Environment=(\w+)=/gm)].map(found => found[1]!)
  t.same(
    set.filter(name => !variablesOf('probe-agent').has(name)),
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
  const caddyfile = textOf('deploy/compose/Caddyfile')
  t.equal(caddyfile.match(/\{/g)?.length, caddyfile.match(/\}/g)?.length)
  if (spawnSync('caddy', ['version']).error) return
  const { DOMAIN, FLEET_DOMAIN, ...rest } = yamlOf('deploy/compose/compose.yaml').services.caddy.environment
  const env = { PATH: process.env.PATH, HOME: folder, ...rest, DOMAIN: 'a.example.com', FLEET_DOMAIN: 'b.example.com' }
  t.ok(DOMAIN && FLEET_DOMAIN)
  const args = ['validate', '--adapter', 'caddyfile', '--config', join(ROOT, 'deploy/compose/Caddyfile')]
  const { status, stderr } = spawnSync('caddy', args, { encoding: 'utf8', env })
  t.equal(status, 0, stderr)
})
