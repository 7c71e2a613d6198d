import t from 'tap'
import { CHANNEL_TYPES, getChannelKind } from '../../../control-plane/alerting/channels/registry.ts'
import {
  type ChannelForm,
  EMPTY_CHANNEL,
  findChannelProblems,
  toChannelBody,
  toChannelConfig,
  toChannelForm,
  toChannelUpdate,
} from '../../../control-plane/dashboard/screens/setup/channels/channel-form.ts'
import {
  CHANNEL_KINDS,
  INSTALLED_FIELDS,
} from '../../../control-plane/dashboard/screens/setup/channels/channel-kinds.ts'
import { MASK } from '../../../shared/secret-names.ts'
import { STORED_CHANNEL } from '../../support/form-records.ts'

const STORED = toChannelForm(STORED_CHANNEL)

t.test('The form of each kind has the fields of its schema, and no others', async t => {
  for (const type of CHANNEL_TYPES) {
    const { properties } = getChannelKind(type).schema as unknown as { properties: object }
    const known: string[] = [...CHANNEL_KINDS[type].fields.map(({ path }) => path), ...INSTALLED_FIELDS]
    t.same(
      Object.keys(properties).filter(name => !known.includes(name)),
      [],
      type,
    )
    for (const { path } of CHANNEL_KINDS[type].fields) t.ok(path in properties, `${type} ${path}`)
  }
  t.same(Object.keys(CHANNEL_KINDS), CHANNEL_TYPES, 'in the order of the registry')
})

t.test('The configuration has the form that the kind accepts', async t => {
  const table: [Partial<ChannelForm>, object][] = [
    [{ type: 'webhook', values: { url: ' https://a.example ' } }, { url: 'https://a.example' }],
    [
      {
        ...{ type: 'webhook', values: { url: 'https://a.example', relay_source_id: 'one' } },
        headers: [{ name: 'X-A', value: '1' }],
      },
      { url: 'https://a.example', headers: { 'X-A': '1' }, relay_source_id: 'one' },
    ],
    [
      { type: 'email', values: { to: 'a@example.com\nb@example.com, c@example.com ' } },
      { to: ['a@example.com', 'b@example.com', 'c@example.com'] },
    ],
    [{ type: 'email', values: {} }, { to: [] }],
    [{ type: 'chat_b', values: { webhook_url: 'https://a.example/x' } }, { webhook_url: 'https://a.example/x' }],
    [{ type: 'chat_a', values: {} }, { webhook_url: '' }],
  ]
  for (const [part, config] of table) t.same(toChannelConfig({ ...EMPTY_CHANNEL, ...part }), config)
})

t.test('A new channel without a name gets that of its kind', async t => {
  t.equal(toChannelBody({ ...EMPTY_CHANNEL, type: 'email' }).name, 'Email')
  t.equal(toChannelBody({ ...EMPTY_CHANNEL, name: ' Ops ' }).name, 'Ops')
})

t.test('A stored channel sends only what changed, with its masks', async t => {
  t.equal(toChannelUpdate(STORED_CHANNEL, STORED), null)
  t.same(toChannelUpdate(STORED_CHANNEL, { ...STORED, name: 'Ops', is_default: false }), {
    name: 'Ops',
    is_default: false,
  })
  const url = 'https://hooks.example.com/other'
  t.same(toChannelUpdate(STORED_CHANNEL, { ...STORED, values: { url } }), {
    config: { url, headers: { 'X-Token': MASK } },
  })
  const more = { ...STORED_CHANNEL, config: { ...STORED_CHANNEL.config, note: 'kept' } }
  t.match(toChannelUpdate(more, { ...STORED, values: { url } }), { config: { url, note: 'kept' } })
})

t.test('A header that is listed twice is a problem', async t => {
  const headers = [
    { name: 'X-A', value: '1' },
    { name: 'X-a', value: '2' },
  ]
  t.same(findChannelProblems({ ...STORED, headers }), [
    { path: 'config.headers', message: 'the header "x-a" is listed twice' },
  ])
})
