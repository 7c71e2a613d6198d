import { randomBytes } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Client } from 'pg'
import t from 'tap'
import { reserveFreePort } from '../../tools/engines/free-port.ts'
import { createDatabase } from '../support/database.ts'
import { listProcesses } from '../support/leaks.ts'
import { newDataDir, npmRunAdmin, npmStart } from '../support/npm-start.ts'
import { readReadiness } from '../support/readiness.ts'
import { waitFor } from '../support/wait.ts'

// takes about 90 s

const ACCOUNT_KEY = /svc_[0-9A-Za-z]{36}/

t.test(
  'npm start becomes ready, keeps its data, prints the key and the claim link once, and leaves no process',
  async t => {
    const dataDir = newDataDir(t)
    const port = String(await reserveFreePort())
    const operatorPort = String(await reserveFreePort())
    const ports = { PORT: port, OPERATOR_PORT: operatorPort, GRPC_PORT: String(await reserveFreePort()) }
    const SECRET_KEY = randomBytes(32).toString('base64')
    const first = npmStart(t, { DATA_DIR: dataDir, ...ports, SECRET_KEY })
    await waitFor(first.isReady, { label: first.output })
    const operatorUrl = `http://127.0.0.1:${operatorPort}`
    t.equal((await readReadiness(operatorUrl)).status, 200)
    t.ok(first.output().includes(`${operatorUrl}/internal/health`), 'the address for the operator is printed')
    for (const component of [
      'PostgreSQL',
      'NATS',
      'ClickHouse',
      'mail',
      'control plane',
      'probe us-east',
      'probe eu-west',
    ]) {
      t.match(first.output(), new RegExp(`^  ${component} .* \\d+\\.\\d s$`, 'm'))
    }
    const probes = listProcesses(dataDir).filter(pid =>
      readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('probe-agent'),
    )
    t.equal(probes.length, 3)
    for (const pid of probes) {
      const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
      const suspicious = variables.filter(one => /postgres:|DATABASE|CLICKHOUSE|NATS|SECRET_KEY/i.test(one))
      // only names, since values may be secret; variables of the test runner are excluded
      const found = suspicious.map(one => one.split('=')[0] ?? '').filter(name => !/^(TEST|_TAPJS)_/.test(name))
      t.same(found, [], 'a probe holds no credential of a database')
    }
    const key = ACCOUNT_KEY.exec(first.output())?.[0] ?? ''
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const created = await fetch(`http://127.0.0.1:${port}/api/v1/monitors`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ name: 'Kept', type: 'http', url: `http://127.0.0.1:${port}/healthz` }),
    })
    t.equal(created.status, 201)
    t.equal(statSync(join(dataDir, 'keep.json')).mode & 0o777, 0o600)
    const claimUrl = new RegExp(`http://localhost:${port}/claim/[\\w-]{43}`).exec(first.output())?.[0]
    t.ok(claimUrl, 'a password can be set, to sign in')
    const kept = readFileSync(join(dataDir, 'keep.json'), 'utf8')
    t.notOk(kept.includes(key) || kept.includes(claimUrl!), 'the account’s key and link are kept nowhere')

    const { output: newLink } = await npmRunAdmin(dataDir, 'user', 'claim-link', 'admin@picket.local')
    t.match(newLink, `http://localhost:${port}/claim/`, 'the command line uses the address of the running installation')
    t.equal((await npmRunAdmin(dataDir, 'secrets', 'check')).code, 0, 'and its key')

    const second = npmStart(t, { DATA_DIR: dataDir, PORT: String(await reserveFreePort()) })
    t.equal(await second.exited, 1)
    t.match(second.output(), `${dataDir} is in use by another Picket (process ${first.child.pid})`)

    first.child.kill('SIGINT')
    t.equal(await first.exited, 0)
    t.same(listProcesses(dataDir), [])

    const stopped = await npmRunAdmin(dataDir, 'probe', 'list')
    t.match(stopped, { code: 1, output: `No installation is running in ${dataDir}` })

    // listens on this address only, and the key is the one of the first start
    const again = npmStart(t, { DATA_DIR: dataDir, ...ports, HOST: '127.0.0.2' })
    await waitFor(again.isReady, { label: again.output })
    t.match(again.output(), `Ready at http://127.0.0.2:${port} `)
    t.notMatch(again.output(), /svc_[0-9A-Za-z]{36}|\/claim\//)
    const answer = await fetch(`http://127.0.0.2:${port}/api/v1/monitors`, { headers })
    const { data } = (await answer.json()) as { data: { name: string }[] }
    t.same(
      data.map(({ name }) => name),
      ['Kept'],
    )

    again.child.kill('SIGKILL')
    await waitFor(() => listProcesses(dataDir).length === 0, {
      label: 'the end of all after a kill -9',
    })
  },
)

t.test(
  'npm start migrates a database of an earlier version, and makes new tokens and a new account in an empty one',
  async t => {
    const dataDir = newDataDir(t)
    const { url } = await createDatabase(t)
    const env = { DATA_DIR: dataDir, DATABASE_URL: url, PORT: String(await reserveFreePort()) }
    const first = npmStart(t, env)
    await waitFor(first.isReady, { label: first.output })
    const [key] = ACCOUNT_KEY.exec(first.output()) ?? []
    const { output } = await npmRunAdmin(dataDir, 'health')
    t.match(output, /PostgreSQL|partitions|probes/i, 'the command line finds all data stores')
    t.notMatch(output, /is not set|No installation/)
    first.child.kill('SIGINT')
    t.equal(await first.exited, 0)

    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query('ALTER TABLE memberships DROP COLUMN entered_at')
    await client.query('ALTER TABLE claim_links DROP COLUMN organization_id')
    await client.query(`DELETE FROM knex_migrations WHERE name = '0072-entered-organizations'`)
    const newer = npmStart(t, env)
    await waitFor(() => newer.isReady() || newer.child.exitCode !== null, { label: newer.output })
    t.ok(newer.isReady(), 'the database of the earlier version is migrated')
    t.notMatch(newer.output(), ACCOUNT_KEY)
    newer.child.kill('SIGINT')
    t.equal(await newer.exited, 0)

    await client.query('DROP SCHEMA public CASCADE')
    await client.query('CREATE SCHEMA public')
    await client.end()
    const again = npmStart(t, env)
    await waitFor(() => again.isReady() || again.child.exitCode !== null, { label: again.output })
    t.ok(again.isReady(), 'the probes are connected')
    const [newKey] = ACCOUNT_KEY.exec(again.output()) ?? []
    t.ok(newKey && newKey !== key, 'the account was created again')
  },
)

t.test('npm run admin -- --help lists the commands when nothing runs', async t => {
  const { code, output } = await npmRunAdmin(newDataDir(t), '--help')
  t.equal(code, 0, output)
  t.match(output, /probe-token create/)
})

t.test('A reason that prevents npm start is printed in one sentence', async t => {
  const refused = async (env: Record<string, string>) => {
    const dataDir = newDataDir(t)
    const { exited, output } = npmStart(t, { DATA_DIR: dataDir, PORT: String(await reserveFreePort()), ...env })
    t.equal(await exited, 1)
    t.same(listProcesses(dataDir), [])
    return output().trimEnd().split('\n').at(-1)
  }
  const taken = createServer()
  await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise(resolve => taken.close(resolve)))
  const { port } = taken.address() as { port: number }
  const sentence = (variable: string) =>
    `Port ${port} is in use by another program. Choose another port: ${variable}=${port + 1} npm start.`
  t.equal(await refused({ PORT: String(port) }), sentence('PORT'))
  for (const variable of ['GRPC_PORT', 'OPERATOR_PORT']) {
    t.equal(await refused({ [variable]: String(port) }), sentence(variable))
  }
  t.equal(await refused({ PORT: 'http' }), 'PORT is "http"; it must be a number from 1 to 65535.')
  const nowhere = await reserveFreePort()
  t.equal(
    await refused({ DATABASE_URL: `postgres://picket:secret@127.0.0.1:${nowhere}/picket` }),
    `No PostgreSQL answers at 127.0.0.1:${nowhere} of DATABASE_URL (ECONNREFUSED).`,
  )
  const noDatabase = new URL(process.env.TEST_DATABASE_URL ?? '')
  noDatabase.pathname = '/not_there'
  t.equal(
    await refused({ DATABASE_URL: noDatabase.href }),
    `PostgreSQL at ${noDatabase.host} does not have the database of DATABASE_URL. Create it first.`,
  )
  const file = join(newDataDir(t), 'a-file')
  writeFileSync(file, '')
  t.match(await refused({ DATA_DIR: join(file, 'data') }), /^DATA_DIR .* is not writable: ENOTDIR/)
})
