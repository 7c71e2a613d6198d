import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { listDemandedStatuses, listUnreadAnswers } from '../../specification/read-answers.ts'

const operation = (name: string, ...statuses: string[]) => ({
  name,
  answers: Object.fromEntries(statuses.map(status => [status, null])),
})

t.test('Documented statuses are demanded, common ones only where the published interface lists them', async t => {
  const statuses = ['200', '400', '401', '403', '429', '503', 'default']
  t.same(listDemandedStatuses(operation('PUT /things/{id}', ...statuses)), ['200', '400', '401', '403'])
  t.same(listDemandedStatuses(operation('GET /things', ...statuses)), ['200', '400', '401'])
  t.same(listDemandedStatuses(operation('POST /agent/bootstrap', '201')), ['201', '409', '429'])
})

t.test('An answer of any record counts for its operation, and a fixed path before a parameter', async t => {
  const operations = [
    operation('PUT /things/{id}', '200', '404'),
    operation('PUT /things/order', '200'),
    operation('GET /things/{id}/parts/{part}', '200'),
  ]
  const lines = ['PUT /api/v1/things/{} 404', 'PUT /api/v1/things/order 200', 'GET /api/v1/other 200', '']
  t.same(listUnreadAnswers(operations, lines), ['PUT /things/{id} 200', 'GET /things/{id}/parts/{part} 200'])
  t.same(listUnreadAnswers(operations, [...lines, 'PUT /api/v1/things/x 200', 'GET /api/v1/things/{}/parts/2 200']), [])
})

t.test('A process records the answers whose status it reads, each once', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'picket-answers-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'answers')
  const code = `
    const { recordReading } = await import('./test/support/read-answers.ts')
    const answer = (url, status) => recordReading('GET', url, { status, body: 'x' })
    answer('http://127.0.0.1:80/api/v1/unread', 200).body
    for (const end of ['1', '2'])
      if (answer('/api/v1/read/0190a0a0-0000-7000-8000-00000000000' + end + '?a=b', 404).status !== 404) process.exit(1)
    process.exit(0)`
  execFileSync(process.execPath, ['--import=tsx', '--input-type=module', '-e', code], {
    env: { ...process.env, PICKET_TEST_RECORD: file },
  })
  t.equal(readFileSync(file, 'utf8'), 'GET /api/v1/read/{} 404\n')
})
