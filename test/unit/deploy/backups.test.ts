import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ROOT, readText, readYaml } from '../../support/deployment.ts'

const [, chapter = ''] = /^## Backups$(.*?)^### /ms.exec(readText('docs/deployment.md')) ?? []
const blocks = [...chapter.matchAll(/^```sh\n(.*?)^```/gms)].map(found => found[1]!)
const [backup = '', newMachine = '', restorePostgres = '', restoreClickhouse = ''] = blocks

/** In place of docker: writes down its arguments, prints what a data store would, and fails where `FAILS` says so. */
const DOCKER = `#!/bin/sh
echo "$*" >> calls
case "$*" in *"$FAILS"*) exit 1;; esac
case "$*" in *pg_dump*) echo dump;; *"cat /var/lib"*) tar -cf - calls;; esac
`

type Run = { status: number | null; calls: string[] }

/** A folder like deploy/compose, in which commands of the chapter run with another program in place of docker. */
function createFolder(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'picket-backups-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const path = (name: string) => join(folder, name)
  for (const name of ['bin', 'files']) mkdirSync(path(name))
  for (const name of ['.env', 'nats-operator.conf', 'files/domain-connect.pem']) writeFileSync(path(name), name)
  writeFileSync(path('bin/docker'), DOCKER, { mode: 0o755 })
  chmodSync(path('files/domain-connect.pem'), 0o644)
  return {
    read: (name: string) => readFileSync(path(name), 'utf8').trim(),
    exists: (name: string) => existsSync(path(name)),
    readMode: (name: string) => statSync(path(name)).mode & 0o777,
    remove: (name: string) => rmSync(path(name)),
    write: (name: string, text: string) => writeFileSync(path(name), text),
    run(commands: string, fails = 'nothing fails'): Run {
      writeFileSync(path('calls'), '')
      const env = { PATH: `${path('bin')}:${process.env.PATH}`, FAILS: fails }
      const { status } = spawnSync('sh', ['-c', commands], { cwd: folder, env, encoding: 'utf8' })
      return { status, calls: readFileSync(path('calls'), 'utf8').trim().split('\n').filter(Boolean) }
    },
  }
}

t.test('A backup keeps the rights of files, and a step that fails leaves the earlier files', async t => {
  const folder = createFolder(t)
  t.equal(folder.run(backup).status, 0)
  t.equal(folder.read('backups/picket.dump'), 'dump')
  t.match(folder.read('backups/picket.tar'), /^calls/, 'a tar archive')
  for (const name of ['backups', 'keys']) t.equal(folder.readMode(name), 0o700, name)
  t.equal(folder.readMode('keys/files/domain-connect.pem'), 0o644, 'user 1000 of the containers can read it')
  for (const [step, file] of [
    ['pg_dump', 'picket.dump'],
    ['cat /var/lib', 'picket.tar'],
  ] as const) {
    t.not(folder.run(backup, step).status, 0, step)
    t.not(folder.read(`backups/${file}`), '', file)
  }
})

t.test('On a new machine, keys are put back and the data stores start without control planes', async t => {
  const folder = createFolder(t)
  folder.run(backup)
  for (const name of ['.env', 'files/domain-connect.pem']) folder.remove(name)
  const { status, calls } = folder.run(newMachine)
  t.equal(status, 0)
  t.equal(folder.readMode('files/domain-connect.pem'), 0o644)
  t.ok(folder.exists('.env'))
  t.same(calls, ['compose build', 'compose up -d --wait postgres clickhouse nats'])
})

t.test('Control planes start only after every step of a restore', async t => {
  const folder = createFolder(t)
  folder.run(backup)
  const steps = [
    [restorePostgres, ['createdb', 'pg_restore', 'vacuumdb', 'ALTER DATABASE']],
    [restoreClickhouse, ['cat > backups']],
  ] as const
  for (const [commands, names] of steps) {
    const { status, calls } = folder.run(commands)
    t.equal(status, 0)
    t.equal(calls[0], 'compose stop control-plane-1 control-plane-2')
    t.equal(calls.at(-1), 'compose up -d')
    for (const name of names) {
      const failed = folder.run(commands, name)
      t.not(failed.status, 0, name)
      t.notOk(failed.calls.includes('compose up -d'), name)
    }
  }
})

t.test('A restore from a dump or an archive that is cut off replaces nothing', async t => {
  const folder = createFolder(t)
  folder.run(backup)
  const failed = folder.run(restorePostgres, 'pg_restore')
  t.not(failed.status, 0)
  const dropped = failed.calls.flatMap(call =>
    [...call.matchAll(/dropdb -U picket --force --if-exists (\w+)/g)].map(([, name]) => name),
  )
  t.same(dropped, ['picket_restored'], 'only the remains of an earlier restore')
  folder.write('backups/picket.tar', folder.read('backups/picket.tar').slice(0, 100))
  const { status, calls } = folder.run(restoreClickhouse)
  t.not(status, 0)
  t.same(calls, [], 'nothing was stopped or dropped')
})

t.test('The commands name services of compose.yaml', async t => {
  const { services } = readYaml('deploy/compose/compose.yaml')
  const named = blocks.flatMap(block => [...block.matchAll(/compose exec -T ([\w-]+)|compose stop ([\w -]+) &&/g)])
  const names = named.flatMap(([, one, several]) => (one ?? several!).split(' '))
  t.ok(names.length > 10)
  for (const name of names) t.ok(name in services, name)
})

/** The statements of the chapter about ClickHouse, in their order: BACKUP, DROP and RESTORE. */
const statements = [...chapter.matchAll(/^echo "([^"]+)" \| docker compose exec -T clickhouse/gm)].map(
  found => found[1]!,
)
const CLICKHOUSE = `
import { Session } from 'chdb'
import { renameSync } from 'node:fs'
const [folder, config, ...statements] = process.argv.slice(1)
const session = new Session(folder + '/data', { connectionArgs: ['--config-file=' + config] })
const run = async sql => (await session.queryAsync(sql, { format: 'TSV' })).text().trim()
const read = () => run('SELECT groupArray(at) FROM (SELECT at FROM picket.progress ORDER BY at)')
await run('CREATE DATABASE picket')
await run('CREATE TABLE picket.progress (name String, at UInt32) ENGINE = MergeTree ORDER BY name')
await run("INSERT INTO picket.progress VALUES ('closed_until', 1)")
await run(statements[0])
renameSync(folder + '/data/backups/picket.tar', folder + '/data/backups/restore.tar')
// what control planes write into their new tables
await run("INSERT INTO picket.progress VALUES ('closed_until', 2)")
await run('SET max_table_size_to_drop = 1')
const before = await read()
for (const sql of statements.slice(1)) await run(sql)
console.log(JSON.stringify([before, await read()]))
session.close()
`

t.test(
  'The statements of the chapter restore what ClickHouse had, in place of newer rows and of large tables',
  async t => {
    t.equal(statements.length, 3)
    const folder = mkdtempSync(join(tmpdir(), 'picket-clickhouse-backup-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    const config = join(folder, 'config.xml')
    // as in the image of ClickHouse
    writeFileSync(config, '<clickhouse><backups><allowed_path>backups</allowed_path></backups></clickhouse>')
    const args = ['--input-type=module', '-e', CLICKHOUSE, folder, config, ...statements]
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
    t.equal(stdout.trim(), '["[1,2]","[1]"]', stderr)
  },
)
