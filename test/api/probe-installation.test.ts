import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { buildInstallCommand } from '../../control-plane/monitoring/fleet/probes/installation/install-command.ts'
import { startApi } from '../support/api-server.ts'
import { ROOT } from '../support/deployment.ts'
import { makeOperator } from '../support/operator.ts'

const ORIGIN = 'http://localhost:8080'
const EXECUTABLE = `picket-probe-${process.platform}-${process.arch}`
const UNIT = 'picket-probe.service'
const [folder, root, tools] = ['files', 'root', 'tools'].map(name =>
  mkdtempSync(join(tmpdir(), `picket-${name}-`)),
) as [string, string, string]
t.teardown(() => [folder, root, tools].map(path => rmSync(path, { recursive: true })))
for (const name of ['install-probe.sh', UNIT]) copyFileSync(join(ROOT, 'deploy/probe', name), join(folder, name))
writeFileSync(join(folder, EXECUTABLE), '#!/bin/sh\necho 9.9.9\n')
writeFileSync(join(folder, 'SHA256SUMS'), execFileSync('sha256sum', [EXECUTABLE, UNIT], { cwd: folder }))
writeFileSync(join(folder, 'secret.pem'), 'secret')
// instead of sudo, which needs root
writeFileSync(join(tools, 'sudo'), '#!/bin/sh\nshift\nexec "$@"\n')
chmodSync(join(tools, 'sudo'), 0o755)

const api = await startApi(t, {
  PUBLIC_URL: ORIGIN,
  PROBE_FOLDER: folder,
  PUBLIC_FLEET_URL: 'http://fleet.example.com',
})
const operator = await makeOperator(api.db, await api.tenant())
const create = (body: unknown, key = operator.key) => api.call('POST', '/probe-tokens', { key, body })

t.test('The command of POST /probe-tokens installs a probe in a shell, with its token', async t => {
  const { status, body } = await create({ region: 'eu-west' })
  t.equal(status, 201)
  const { id, token, install_command: command, ...rest } = body.data
  t.match(rest, { region: 'eu-west', expires_at: /Z$/ })
  t.ok(Date.parse(rest.expires_at) > Date.now() + 6 * 86_400_000)
  t.equal(
    command,
    `curl -fsSL -o install-probe.sh ${ORIGIN}/install/probe/install-probe.sh && FLEET_URL=fleet.example.com:80 FLEET_TLS=off PROBE_TOKEN=${token} sudo --preserve-env=FLEET_URL,FLEET_TLS,PROBE_TOKEN sh install-probe.sh --from ${ORIGIN}/install/probe`,
  )
  // not synchronously: the API is in this process
  const { stdout } = await promisify(execFile)('sh', ['-c', command.replaceAll(ORIGIN, api.origin)], {
    cwd: tools,
    env: { PATH: `${tools}:${process.env.PATH}`, DESTDIR: root },
  })
  t.match(stdout, /picket-probe 9\.9\.9 is installed/)
  t.equal(
    readFileSync(join(root, 'etc/picket/probe.env'), 'utf8'),
    `FLEET_URL=fleet.example.com:80\nFLEET_TLS=off\nPROBE_TOKEN=${token}\n`,
  )
  const { data } = (await api.call('GET', '/audit-log?resource=probe_token', { key: operator.key })).body
  t.match(data, [{ action: 'created', resource_id: id }])
  t.equal(data.length, 1)
  t.notMatch(JSON.stringify(data), token)
})

t.test('POST /probe-tokens 400 and 403: an unknown region, another project, a key without the scope admin', async t => {
  t.match(await create({ region: 'mars' }), { status: 400 })
  t.match(await create({}), { status: 400 })
  const stranger = await api.tenant()
  t.match(await create({ region: 'eu-west' }, stranger.key), {
    ...{ status: 403, body: { error: { message: /operator project/ } } },
  })
  const writer = await api.createKey(operator, 'write')
  t.match(await create({ region: 'eu-west' }, writer), { status: 403, body: { error: { message: /scope admin/ } } })
})

t.test('Only the files of the installer are served, and not on the domain of a status page', async t => {
  const read = (name: string, headers = {}) => fetch(`${api.origin}/install/probe/${name}`, { headers })
  const script = await read('install-probe.sh')
  t.equal(script.headers.get('content-type'), 'text/plain; charset=utf-8')
  t.match(await script.text(), /^#!\/bin\/sh/)
  for (const name of [
    'secret.pem',
    '..%2Fsecret.pem',
    '%2e%2e/secret.pem',
    'constructor',
    'picket-probe-linux-mips',
    '',
  ])
    t.equal((await read(name)).status, 404, name)
  rmSync(join(folder, EXECUTABLE))
  const missing = await read(EXECUTABLE)
  t.match(await missing.json(), { error: { message: /not built on this server; run "npm run build:probe"/ } })
})

t.test('POST /probe-tokens has a token but no line on a server without the installer', async t => {
  rmSync(join(folder, 'install-probe.sh'))
  const { status, body } = await create({ region: 'eu-west' })
  t.match([status, body.data], [201, { token: /^prb_/, install_command: null }])
})

t.test('A failed download ends the command with an error', async t => {
  const command = buildInstallCommand({
    publicUrl: api.origin,
    fleet: new URL('http://fleet.example.com'),
    token: 'prb_1',
  })
  const env = { PATH: `${tools}:${process.env.PATH}`, DESTDIR: root }
  await t.rejects(promisify(execFile)('sh', ['-c', command], { cwd: folder, env }), { message: /404/ })
})

t.test('The download over https follows no redirect to http', async t => {
  const command = buildInstallCommand({
    publicUrl: 'https://picket.example.com',
    fleet: new URL('https://fleet.example.com'),
    token: 'prb_1',
  })
  t.match(
    command,
    "curl -fsSL --proto '=https' --proto-redir '=https' -o install-probe.sh https://picket.example.com/install/probe/install-probe.sh && FLEET_URL=fleet.example.com:443 ",
  )
})
