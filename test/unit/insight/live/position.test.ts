import t from 'tap'
import {
  formatPosition,
  formatRegions,
  isContinuable,
  MAX_POSITION_LENGTH,
  parsePosition,
} from '../../../../control-plane/insight/live/position.ts'

const projectId = '01923456-789a-7bcd-8ef0-123456789abc'
const atMs = Date.parse('2026-03-01T10:00:00Z')
const regions = formatRegions(['eu-west'])

t.test('A position survives its text', async t => {
  for (const snapshot of ['1:1:', '745:745:', '100:205:100,104,204', '9007199254:9007199999:9007199254']) {
    const text = formatPosition({ snapshot, atMs, regions }, projectId)
    t.match(text, /^[0-9a-z.-]+$/, 'nothing that a URL or a header escapes')
    t.same(parsePosition(text, projectId), { snapshot, atMs, regions })
  }
})

t.test('A position with very many open transactions becomes an earlier one', async t => {
  const open = Array.from({ length: 500 }, (_, i) => 1_000 + 2 * i)
  const text = formatPosition({ snapshot: `1000:2000:${open}`, atMs, regions }, projectId)
  t.ok(text.length < MAX_POSITION_LENGTH)
  t.same(parsePosition(text, projectId), { snapshot: '1000:1000:', atMs, regions })
})

t.test('A text that PostgreSQL would not accept as a snapshot is refused', async t => {
  const refused = ['1.2.3', '1.0.0.', '1.2.3.4', '1.2.3.2-1', '1.2.3.-', '1.2.3.1-', '1.Z.1.', `1.2.${'z'.repeat(11)}.`]
  for (const text of refused) t.equal(parsePosition(`${text}.56789abc`, projectId), null, text)
  for (const text of ['', 'x', '1.2.3.0-2', 'a'.repeat(5_000)]) t.equal(parsePosition(text, projectId), null, text)
  const old = { snapshot: '2:5:2,4', atMs: 1_000, regions: '' }
  t.same(parsePosition('1.2.3.0-2.56789abc', projectId), old, 'an older program did not write the regions')
})

t.test('A position of another project is refused', async t => {
  const text = formatPosition({ snapshot: '745:745:', atMs, regions }, projectId)
  t.equal(parsePosition(text, projectId.replace('9abc', '9abd')), null)
})

t.test('A position can be continued for 30 minutes, by a database that has seen it', async t => {
  const current = { snapshot: '100:120:', atMs }
  const rows: [string, number, boolean][] = [
    ['100:120:', 0, true],
    ['90:95:', 29 * 60_000, true],
    ['90:95:', 30 * 60_000, false],
    ['90:95:', -29 * 60_000, true],
    // the log could have deleted rows before such a position is 30 minutes old
    ['90:95:', -30 * 60_000, false],
    ['100:121:', 0, false],
  ]
  for (const [snapshot, ageMs, expected] of rows)
    t.equal(isContinuable({ snapshot, atMs: atMs - ageMs }, current), expected, `${snapshot} ${ageMs}`)
})
