import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ChannelMessage } from '../../control-plane/alerting/channels/registry.ts'

const FIXTURES = fileURLToPath(new URL('../fixtures/channels', import.meta.url))
const isWriting = process.env.PICKET_WRITE_FIXTURES === '1'

type Tap = { equal(found: unknown, wanted: unknown, message: string): unknown }

/**
 * Compares a message with its reviewed file: a mail as its headers and two parts, everything else as indented
 * JSON. With PICKET_WRITE_FIXTURES=1 it is written instead, to be reviewed in the diff.
 */
export function compareGolden(t: Tap, folder: string, name: string, message: ChannelMessage): void {
  for (const [file, content] of Object.entries(filesOf(name, message))) {
    const path = join(FIXTURES, folder, file)
    mkdirSync(dirname(path), { recursive: true })
    if (isWriting) writeFileSync(path, content)
    t.equal(content, existsSync(path) ? readFileSync(path, 'utf8') : '', `${folder}/${file}`)
  }
}

function filesOf(name: string, { via, url, headers, body }: ChannelMessage): Record<string, string> {
  const content = JSON.parse(body.toString('utf8'))
  const pretty = (value: object) => `${JSON.stringify(value, null, 2)}\n`
  if (via === 'http') return { [`${name}.json`]: pretty({ url, headers, body: content }) }
  const { text, html, ...rest } = content
  return { [`${name}.json`]: pretty({ url, ...rest }), [`${name}.txt`]: text, [`${name}.html`]: html }
}
