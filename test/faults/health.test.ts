import { type AddressInfo, createServer } from 'node:net'
import t from 'tap'
import { runAdmin, startPicket } from '../support/picket.ts'
import { startTarget } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'

// takes about 45 s

/** The output of the command, and its exit code. */
function readAnswer(command: Promise<string>): Promise<{ code: number; words: string }> {
  return command.then(
    words => ({ code: 0, words }),
    ({ code, stdout }) => ({ code, words: stdout }),
  )
}

t.test('The operator reads findings, their beginning and what to do', async t => {
  const [picket, target] = await Promise.all([startPicket(t), startTarget(t)])
  const { api, operator } = picket
  const { id } = (await api.post('/monitors', { name: 'Shop', type: 'http', url: target.url, regions: ['us-east'] }))
    .body.data
  await waitFor(async () => (await api.get(`/monitors/${id}`)).body.data.status === 'up', {
    label: 'the first verdict',
  })

  const waitForReport = (code: number, ...patterns: RegExp[]) => {
    let last = ''
    const condition = async () => {
      const answer = await readAnswer(picket.admin('health'))
      last = answer.words
      return answer.code === code && patterns.every(text => text.test(answer.words)) && answer.words
    }
    // each look is a process
    return waitFor(condition, { everyMs: 2_000, label: () => `${patterns.join(' and ')}, after this:\n${last}\n` })
  }
  await t.test('A healthy installation has no problems on the command line and the operator port', async t => {
    t.match(await waitForReport(0, /^No problems found\./), /All 16 partitions of results have an owner\./)
    const answer = await fetch(`${operator}/internal/health`)
    t.equal(answer.status, 200)
    const document = (await answer.json()) as { well: boolean; findings: { subject: string; well: boolean }[] }
    t.ok(document.well)
    t.ok(document.findings.every(({ well }) => well))
    for (const line of [
      /^picket_health_findings\{subject="partitions"\} 0$/m,
      /^picket_stream_bytes\{stream="RESULTS"\} [1-9]/m,
      /^picket_stream_last_sequence\{stream="RESULTS"\} [1-9]/m,
    ]) {
      const shown = async () => line.test(await (await fetch(`${operator}/metrics`)).text())
      t.ok(await waitFor(shown, { everyMs: 500, label: `${line}` }))
    }
  })

  await t.test('The command line reports missing processes without a running process', async t => {
    await picket.controlPlane.kill9()
    const words = await waitForReport(
      1,
      /No process reads 16 of 16 partitions of results: 0, 1, .*, since 20\S+Z \(.+\)\.\n +Check that a process/,
      /Region us-east has no live probe; 1 monitors use it, since/,
    )
    t.match(words, /^\d of \d+ checks found a problem:/)
    t.match(words, /ok {7}PostgreSQL answers/)
  })

  await t.test('An unreachable engine does not hide the others', async t => {
    await picket.nats.stop()
    const words = await waitForReport(1, /NATS does not answer/)
    t.match(words, 'Region us-east has no live probe')
    t.match(words, /ok {7}ClickHouse answers/)
  })

  await t.test('The problems end with the faults', async t => {
    await picket.nats.restart()
    await picket.restartControlPlane()
    t.ok(await waitForReport(0, /^No problems found\./))
  })
})

t.test('Engines that accept connections and do not answer are named, and the command ends', async t => {
  const silent = createServer(socket => socket.on('error', () => {})).listen(0, '127.0.0.1')
  t.teardown(() => silent.close())
  await new Promise(resolve => silent.once('listening', resolve))
  const host = `127.0.0.1:${(silent.address() as AddressInfo).port}`
  const env = { DATABASE_URL: `postgres://${host}/x`, NATS_URL: `nats://${host}`, CLICKHOUSE_URL: `http://${host}` }
  const { code, words } = await readAnswer(runAdmin(env, ['health']))
  t.equal(code, 1)
  for (const engine of ['PostgreSQL', 'NATS', 'ClickHouse']) t.match(words, `${engine} does not answer`)
})
