import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { CHANNEL_TYPES, kindOf, type Message } from '../../../control-plane/channels/index.ts'
import { ALL_EVENTS, CONFIGS, CONTEXT, DIGEST, sampleEnvelope } from '../../support/channel-events.ts'

/**
 * What each kind makes of each event, reviewed by eye. After a change on purpose: `PICKET_WRITE_FIXTURES=1 node --import
 * tsx test/unit/channels/golden.test.ts`, and look at what git shows.
 */
const FIXTURES = fileURLToPath(new URL('../../fixtures/channels', import.meta.url))
const isWriting = process.env.PICKET_WRITE_FIXTURES === '1'

/** Files to their contents: a mail as its two halves beside its headers, all else as indented JSON. */
function filesOf(name: string, { via, url, headers, body }: Message): Record<string, string> {
  const content = JSON.parse(body.toString('utf8'))
  const pretty = (value: object) => `${JSON.stringify(value, null, 2)}\n`
  if (via === 'http') return { [`${name}.json`]: pretty({ url, headers, body: content }) }
  const { text, html, ...rest } = content
  return { [`${name}.json`]: pretty({ url, ...rest }), [`${name}.txt`]: text, [`${name}.html`]: html }
}

function compare(t: Tap, type: string, files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    const file = join(FIXTURES, type, name)
    mkdirSync(dirname(file), { recursive: true })
    if (isWriting) writeFileSync(file, content)
    t.equal(content, existsSync(file) ? readFileSync(file, 'utf8') : '', `${type}/${name}`)
  }
}

type Tap = typeof t

for (const type of CHANNEL_TYPES) {
  const kind = kindOf(type)
  const config = CONFIGS[type] ?? {}
  t.test(`${type} says each of the twelve events as it was reviewed`, async t => {
    for (const name of ALL_EVENTS) {
      compare(t as Tap, type, filesOf(name, kind.render(sampleEnvelope(name), config, CONTEXT)))
    }
  })
  if (!kind.renderDigest) continue
  const { renderDigest } = kind
  t.test(`${type} says a reminder and a digest as they were reviewed`, async t => {
    const context = { ...CONTEXT, reminder: { number: 3, downFor: '1 hour 30 minutes' } }
    compare(t as Tap, type, filesOf('reminder', kind.render(sampleEnvelope('monitor.down'), config, context)))
    compare(t as Tap, type, filesOf('digest', renderDigest(DIGEST, config, CONTEXT)))
  })
}
