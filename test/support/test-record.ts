import { appendFileSync } from 'node:fs'

const file = process.env.PICKET_TEST_RECORD
const lines = new Set<string>()
if (file) process.on('exit', () => appendFileSync(file, [...lines].map(line => `${line}\n`).join('')))

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi

/**
 * Adds a line such as "GET /api/v1/monitors/{} 200" to the file that PICKET_TEST_RECORD names, at the end of the process and
 * each once. `url` may be a path. A complete `npm test` reads the file.
 */
export function recordLine(kind: string, url: string, ...rest: unknown[]): void {
  if (file) lines.add([kind, new URL(url, 'http://localhost').pathname.replace(UUID, '{}'), ...rest].join(' '))
}
