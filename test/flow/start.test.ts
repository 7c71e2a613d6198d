import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { reserveFreePort } from '../../tools/engines/free-port.ts'
import { processesOf } from '../support/leaks.ts'
import { newDataDir, npmStart } from '../support/npm-start.ts'
import { waitFor } from '../support/wait.ts'

// takes about 45 s

t.test(
  'npm start becomes ready, keeps its data, prints the key and the claim link once, and leaves no process',
  async t => {
    const dataDir = newDataDir(t)
    const port = String(await reserveFreePort())
    const operatorPort = String(await reserveFreePort())
    const ports = { PORT: port, OPERATOR_PORT: operatorPort, GRPC_PORT: String(await reserveFreePort()) }
    const first = npmStart(t, { DATA_DIR: dataDir, ...ports })
    await waitFor(first.isReady, { label: first.output })
    const operatorUrl = `http://127.0.0.1:${operatorPort}`
    t.equal((await fetch(`${operatorUrl}/readyz`)).status, 200)
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
    const probes = processesOf(dataDir).filter(pid =>
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
    const key = /svc_[0-9A-Za-z]{36}/.exec(first.output())?.[0] ?? ''
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

    const second = npmStart(t, { DATA_DIR: dataDir, PORT: String(await reserveFreePort()) })
    t.equal(await second.exited, 1)
    t.match(second.output(), `${dataDir} is in use by another Picket (process ${first.child.pid})`)

    first.child.kill('SIGINT')
    t.equal(await first.exited, 0)
    t.same(processesOf(dataDir), [])

    const again = npmStart(t, { DATA_DIR: dataDir, ...ports })
    await waitFor(again.isReady, { label: again.output })
    t.notMatch(again.output(), /svc_[0-9A-Za-z]{36}|\/claim\//)
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/monitors`, { headers })
    const { data } = (await answer.json()) as { data: { name: string }[] }
    t.same(
      data.map(({ name }) => name),
      ['Kept'],
    )

    again.child.kill('SIGKILL')
    await waitFor(() => processesOf(dataDir).length === 0, {
      label: 'the end of all after a kill -9',
    })
  },
)

t.test('A reason that prevents npm start is printed in one sentence', async t => {
  const refused = async (env: Record<string, string>) => {
    const dataDir = newDataDir(t)
    const { exited, output } = npmStart(t, { DATA_DIR: dataDir, PORT: String(await reserveFreePort()), ...env })
    t.equal(await exited, 1)
    t.same(processesOf(dataDir), [])
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
