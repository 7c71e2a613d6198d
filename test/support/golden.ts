import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ChannelMessage } from '../../control-plane/alerting/channels/registry.ts'

const FIXTURES = fileURLToPath(new URL('../fixtures/channels', import.meta.url))
const isWriting = process.env.PICKET_WRITE_FIXTURES === '1'

type Tap = { equal(found: unknown, wanted: unknown, message: string): unknown }

/**
 * Compares a message with its reviewed file: an email as text, HTML and headers, other messages as indented JSON. With
 * PICKET_WRITE_FIXTURES=1 the file is written, and the diff has to be reviewed.
 */
export function compareGolden(t: Tap, folder: string, name: string, message: ChannelMessage): void {
  for (const [file, content] of Object.entries(toFiles(name, message))) {
    const path = join(FIXTURES, folder, file)
    mkdirSync(dirname(path), { recursive: true })
    if (isWriting) writeFileSync(path, content)
    t.equal(content, existsSync(path) ? readFileSync(path, 'utf8') : '', `${folder}/${file}`)
  }
}

function toFiles(name: string, { via, url, headers, body }: ChannelMessage): Record<string, string> {
  const content = JSON.parse(body.toString('utf8'))
  const pretty = (value: object) => `${JSON.stringify(value, null, 2)}\n`
  if (via === 'http') return { [`${name}.json`]: pretty({ url, headers, body: content }) }
  const { text, html, ...rest } = content
  return { [`${name}.json`]: pretty({ url, ...rest }), [`${name}.txt`]: text, [`${name}.html`]: html }
}
