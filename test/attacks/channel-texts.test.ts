import t from 'tap'
import {
  CHANNEL_TYPES,
  type ChannelMessage,
  type Digest,
  getChannelKind,
  type MailContent,
} from '../../control-plane/alerting/channels/registry.ts'
import { ALL_EVENTS, CONFIGS, CONTEXT, DIGEST, hostileEnvelope } from '../support/channel-events.ts'
import { listTexts, markupInChatA, markupInChatB, markupInChatC } from '../support/chat-markup.ts'

const HOSTILE = [
  '<!channel> <!here|here> <@U012AB3CD> <#C1|x> <https://evil.example|https://bank.example>',
  '@everyone @here @channel <@&1> <:x:1> <t:1:R>',
  '**bold** __under__ ~~gone~~ ||spoiler|| `code` [link](https://evil.example) # head\n# head\n> quote\n- item\n1. one',
  '</td></table><script>alert(1)</script><img src=x onerror=alert(1)> "\' onload=x',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a hostile text
  '{{7*7}} ${7*7} <%= 7*7 %> #{7*7} {{DATE(2017-02-14T06:08:39Z)}} <at>everyone</at>',
  'a\r\nBcc: evil@example.com\r\n\r\nbody\u0000\u0007\u202egnp.exe\u2066x\u2069',
]
const KINDS = CHANNEL_TYPES.filter(type => type !== 'webhook')

function messagesWith(type: (typeof KINDS)[number], text: string): ChannelMessage[] {
  const { render, renderDigest } = getChannelKind(type)
  const config = CONFIGS[type] ?? {}
  const changes = Array.from({ length: 300 }, (_, i) => ({ ...DIGEST.changes[i % 4]!, name: text }))
  const digest: Digest = { ...DIGEST, projectName: text, changes }
  const reminder = { number: 2, downFor: '1 hour' }
  return [
    ...ALL_EVENTS.map(name => render(hostileEnvelope(name, text), config, CONTEXT)),
    render(hostileEnvelope('monitor.down', text), config, { ...CONTEXT, reminder }),
    renderDigest!(digest, config, CONTEXT),
  ]
}

type Json = { [key: string]: Json } & Json[] & string
const parseBody = (message: ChannelMessage) => JSON.parse(message.body.toString('utf8')) as Json
const listBodies = (type: (typeof KINDS)[number]) => HOSTILE.flatMap(text => messagesWith(type, text)).map(parseBody)

t.test('Text from users mentions and formats nothing in chat_a', async t => {
  for (const body of listBodies('chat_a')) t.same(markupInChatA(body), [])
})

t.test('In chat_b all markup is escaped and mentions are disabled', async t => {
  for (const body of listBodies('chat_b')) t.same(markupInChatB(body), [])
})

t.test('In chat_c text from users is in text runs, which have no markup', async t => {
  for (const body of listBodies('chat_c')) t.same(markupInChatC(body), [])
})

t.test('An email contains no tag, attribute or header from users', async t => {
  for (const body of listBodies('email')) {
    const { html, subject, text, message_id: id, references } = body as unknown as MailContent
    t.notMatch(html, /<script|<img|<[^>]*\son\w+=|<at>|<b>|<!channel/i)
    const tags = new Set([...html.matchAll(/<\/?([a-z0-9!]+)/gi)].map(match => match[1]!.toLowerCase()))
    t.strictSame(
      [...tags].filter(tag => !OUR_TAGS.includes(tag)),
      [],
    )
    for (const [, href] of html.matchAll(/href="([^"]*)"/g)) t.match(href, /^https:\/\/[a-z.]*example\.com\//)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters
    t.notMatch(`${subject}${id}${references}`, /[\x00-\x1f\u202e\u2066]/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters
    t.notMatch(text, /[\x00-\x09\x0b-\x1f\u202e\u2066]/)
    t.ok(subject.length <= 200)
  }
})

const OUR_TAGS = '!doctype html head meta title style body div table tr td span h1 p br a'.split(' ')

t.test('No message exceeds the limits of its receiver', async t => {
  for (const unit of ['x', '<', '_', '東', '😀', '"', '\\']) {
    const text = unit.repeat(12_000 / unit.length)
    for (const body of messagesWith('chat_a', text).map(parseBody)) {
      t.ok(body.blocks!.length <= 50)
      for (const { keys, text } of listTexts(body)) {
        const isHeader = keys[0] === 'blocks' && body.blocks![Number(keys[1])]!.type === 'header'
        t.ok(
          text.length <= (isHeader ? 150 : keys.includes('fields') ? 2_000 : 3_000),
          `${keys.join('.')}: ${text.length}`,
        )
      }
    }
    for (const body of messagesWith('chat_b', text).map(parseBody)) {
      const { title, description, fields } = body.embeds![0] as Json
      t.ok(
        title!.length <= 256 &&
          description!.length <= 4_096 &&
          fields!.every((one: Json) => one.value!.length <= 1_024),
      )
      const total = listTexts([title, description, fields]).reduce((sum, { text }) => sum + text.length, 6)
      t.ok(total <= 6_000, `${total} characters of ${unit}`)
    }
    for (const message of messagesWith('chat_c', text))
      t.ok(message.body.length <= 28_000, `${message.body.length} bytes of ${unit}`)
    for (const message of messagesWith('email', text))
      t.ok(message.body.length <= 500_000, `${message.body.length} bytes of ${unit}`)
  }
})

t.test('Texts are cut between characters', async t => {
  for (const type of KINDS) {
    for (const message of messagesWith(type, `a${'😀'.repeat(6_000)}`))
      t.notMatch(message.body.toString('utf8'), /\ufffd|\\ud83d(?!\\ude00)/i)
  }
})

t.test('Only http and https URLs become links', async t => {
  for (const url of [
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    '',
    'https:evil',
    `https://a.example/${'x'.repeat(3_000)}`,
  ]) {
    for (const type of KINDS) {
      const envelope = hostileEnvelope('vendor.down', url)
      const body = getChannelKind(type)
        .render(envelope, CONFIGS[type] ?? {}, CONTEXT)
        .body.toString('utf8')
      t.notMatch(
        body,
        /"url":"(?!https:\/\/)|href=\\"(?!https:\/\/)|\]\((?!https:\/\/)/,
        `${type}: ${url.slice(0, 40)}`,
      )
    }
  }
})
