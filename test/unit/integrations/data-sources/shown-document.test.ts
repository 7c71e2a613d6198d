import t from 'tap'
import {
  MAX_SHOWN_BYTES,
  reduceDocument,
} from '../../../../control-plane/integrations/data-sources/document/shown-document.ts'

const countBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const nest = (levels: number, leaf: unknown) => {
  let value = leaf
  for (let i = 0; i < levels; i++) value = i % 2 ? [value] : { key: value }
  return value
}

t.test('A document up to the limit is shown as it is', async t => {
  for (const value of [null, 0, '', 'ok', [], { a: [1, { b: null }] }, nest(499, 1), 'x'.repeat(MAX_SHOWN_BYTES - 2)])
    t.same(reduceDocument(value), { value, isCut: false })
})

t.test('A larger document is cut to the limit, whatever its form', async t => {
  const service = (i: number) => ({ id: i, state: 'ok', text: 'abc '.repeat(20), ports: [80, 443] })
  const long = 'ü\u0000"'.repeat(500_000)
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`service-${i}`, i]))
  const cases: Record<string, unknown> = {
    'a long list': Array.from({ length: 50_000 }, (_, i) => service(i)),
    'a wide object': wide,
    'a long text': long,
    'a long key': { [long]: 1, short: 'x'.repeat(300_000) },
    'many levels': nest(
      499,
      Array.from({ length: 90_000 }, (_, i) => i),
    ),
    'lists in lists': Array.from({ length: 300 }, () => Array.from({ length: 300 }, () => [1, 2, 'abc'])),
    'long texts in an object': { a: long, b: long, c: { d: long, e: 1 } },
    'the key __proto__': JSON.parse(`{"__proto__": {"a": 1}, "b": "${'x'.repeat(300_000)}"}`),
  }
  for (const [name, value] of Object.entries(cases)) {
    const { value: shown, isCut } = reduceDocument(value)
    t.ok(isCut, name)
    const size = countBytes(shown)
    t.ok(size <= MAX_SHOWN_BYTES, `${name}: ${size} bytes`)
    t.ok(size > MAX_SHOWN_BYTES / 8, `${name}: ${size} bytes`)
  }
})

t.test('The shown part of a cut document has the same paths and values', async t => {
  const services = Array.from({ length: 50_000 }, (_, i) => ({ id: i, state: 'ok' }))
  const { value } = reduceDocument({ version: 7, services, text: 'x'.repeat(90_000), end: true })
  const shown = value as { version: number; services: typeof services; text: string; end: boolean }
  t.equal(shown.version, 7)
  t.same(shown.services, services.slice(0, shown.services.length))
  t.ok(shown.services.length > 1_000, `${shown.services.length} services`)
  t.match(shown.text, /^x{1000,}…$/)
  t.equal(shown.end, true, 'short values after a long list are shown')
})
