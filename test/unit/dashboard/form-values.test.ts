import t from 'tap'
import { toSeconds } from '../../../control-plane/dashboard/parts/forms/duration-field.tsx'
import { formatTags, parseTags } from '../../../control-plane/dashboard/parts/monitors/tag-list.ts'
import { isSilent } from '../../../control-plane/dashboard/screens/setup/monitors/alert-rules.tsx'
import { toTestKey } from '../../../control-plane/dashboard/screens/setup/monitors/form-body.tsx'

t.test('A duration is the number of seconds that was meant', async t => {
  const rows: [typed: string, unitSeconds: number, seconds: string][] = [
    ['4.1', 60, '246'],
    ['0.55', 3_600, '1980'],
    ['0.12', 60, '7.2'],
    ['1.5', 86_400, '129600'],
    ['', 60, ''],
    ['0', 60, '0'],
    ['365', 86_400, '31536000'],
  ]
  for (const [typed, unitSeconds, seconds] of rows) t.equal(toSeconds(typed, unitSeconds), seconds, typed)
})

t.test('No alert is sent about a monitor only when every channel of its rules is known and paused', async t => {
  const listed = (total: number) =>
    ({
      data: [
        { id: 'on', is_paused: false },
        { id: 'off', is_paused: true },
      ],
      meta: { total },
    }) as Parameters<typeof isSilent>[1]
  const rules = (...ids: string[]) => ids.map(alert_channel_id => ({ alert_channel_id }))
  t.equal(isSilent([], listed(2)), true)
  t.equal(isSilent(rules('off'), listed(2)), true)
  t.equal(isSilent(rules('off', 'on'), listed(2)), false)
  t.equal(isSilent(rules('old'), listed(150)), false, 'an older channel, which is not listed')
  t.equal(isSilent(rules('off'), listed(150)), true)
  t.equal(isSilent(rules('deleted'), listed(2)), true)
})

t.test('The results of a test belong to the settings that were tested', async t => {
  const body = { name: 'Shop', type: 'http', url: 'https://a.example', tags: ['a'] } as const
  const key = (part: object) => toTestKey({ ...body, tags: [...body.tags], ...part })
  t.equal(key({ name: 'Shop 2', tags: [] }), key({}), 'a name changes no check')
  t.not(key({ url: 'https://b.example' }), key({}))
  t.not(key({ timeout_ms: 1_000 }), key({}))
})

t.test('The text of a field has the same tags as the record, also those with commas', async t => {
  const kept: [tags: string[], text: string][] = [
    [[], ''],
    [['production', 'shop'], 'production, shop'],
    [['a, b', 'c'], '"a, b", c'],
    [['say "yes"'], 'say "yes"'],
    [['"a", b'], '"""a"", b"'],
    [['"'], '""""'],
    [[' a ', 'b'], '" a ", b'],
  ]
  for (const [tags, text] of kept) {
    t.equal(formatTags(tags), text)
    t.same(parseTags(text), tags, text)
  }
  const typed: [text: string, tags: string[]][] = [
    [' a ,b,, a', ['a', 'b']],
    [',', []],
    ['"a, b', ['"a', 'b']],
    ['x "a, b"', ['x "a', 'b"']],
    ['"a" b, c', ['"a" b', 'c']],
    ['""', []],
  ]
  for (const [text, tags] of typed) t.same(parseTags(text), tags, text)
})
