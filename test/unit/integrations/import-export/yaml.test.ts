import { dump, load } from 'js-yaml'
import t from 'tap'
import { formatYaml, parseYaml } from '../../../../control-plane/integrations/import-export/file/yaml.ts'

const list = <T>(length: number, of: (i: number) => T) => Array.from({ length }, (_, i) => of(i))
const monitor = (i: number) => ({
  ...{ id: `${i}`, name: i % 7 === 0 ? 'yes' : `Shop ${i}: "x"`, tags: [], parents: ['a', 'b'] },
  ...{ body: `line\n  line ${i}\n`, rules: list(i % 5, j => ({ channel: `c${j}`, on_down: false })) },
})
const FILE = {
  version: 1,
  alert_settings: { is_digest_enabled: true, digest_threshold: 5 },
  alert_channels: [],
  monitors: list(1_500, monitor),
  maintenance_windows: list(3, i => ({ id: `${i}`, monitors: list(1_000, j => `Shop ${j}`) })),
}

t.test('A long file is formatted in pieces with the same result', async t => {
  let pauses = 0
  const text = await formatYaml(FILE, async () => void pauses++)
  t.ok(text === dump(FILE, { lineWidth: 120, noRefs: true }))
  t.same(load(text), FILE)
  t.ok(pauses >= 15, `${pauses} pauses`)
})

const parse = (text: string) => parseYaml(Buffer.from(text))

t.test('Aliases that expand to a long text are refused, however they are nested', async t => {
  const times = (count: number, name: string) => `[${list(count, () => `*${name}`).join(', ')}]`
  const long = 'x'.repeat(60_000)
  const wide = `{${list(50, i => `${'k'.repeat(900)}${i}: 1`).join(', ')}}`
  const rows: [title: string, text: string][] = [
    ['aliases of aliases', `- &a ["${long}"]\n- &b ${times(200, 'a')}\n- &c ${times(120, 'b')}`],
    ['a text', `- &a ${'x'.repeat(1_000_000)}\n${'- *a\n'.repeat(900)}`],
    ['keys', `- &a ${wide}\n- &b ${times(30, 'a')}\n- ${times(30, 'b')}`],
    ['keys of Gatus that merge a block', `- &a { text: "${long}" }\n${'- { <<: *a }\n'.repeat(100)}`],
    ['an anchor that is read after its aliases', `z: &a ["${long}"]\n2: &b ${times(50, 'a')}\n1: ${times(50, 'b')}`],
  ]
  const message = 'the aliases of the body must repeat at most 2000000 characters'
  for (const [title, text] of rows) t.throws(() => parse(text), { status: 400, message }, title)
})

t.test('Aliases that nest too deep or contain themselves are refused', async t => {
  const chain = list(900, i => `${900 - i}: &a${i} [[[[[[[[${i === 0 ? 1 : `*a${i - 1}`}]]]]]]]]`).join('\n')
  const message = 'the body must be nested at most 32 levels deep'
  for (const text of [chain, '&a [*a]', '&a [[1, *a], *a, *a]']) t.throws(() => parse(text), { status: 400, message })
})

t.test('A block that many entries share, and a long text that several share, are accepted', async t => {
  const body = 'line of a request\n'.repeat(100)
  const block = `shared:\n  body: &body ${JSON.stringify(body)}\n  headers: &headers { accept: text/plain }\n`
  const entries = list(450, i => `- { name: "${i}", body: *body, headers: *headers }`).join('\n')
  const { monitors } = parse(`${block}monitors:\n${entries}`) as { monitors: object[] }
  t.equal(monitors.length, 450)
  t.same(monitors[449], { name: '449', body, headers: { accept: 'text/plain' } })
  const certificate = 'x'.repeat(8_000)
  t.same(
    parse(`- &c ${certificate}\n${'- *c\n'.repeat(200)}`),
    list(201, () => certificate),
  )
})
