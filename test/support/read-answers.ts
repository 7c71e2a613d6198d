import { appendFileSync } from 'node:fs'

const file = process.env.PICKET_READ_ANSWERS
const lines = new Set<string>()
if (file) process.on('exit', () => appendFileSync(file, [...lines].map(line => `${line}\n`).join('')))

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi

/**
 * Returns the answer of an API server with a `status` that records its first reading by a test: a line such as
 * "GET /api/v1/monitors/{} 200" in the file that PICKET_READ_ANSWERS names, at the end of the process. `url` may be a path.
 */
export function recordReading<A extends { status: number }>(method: string, url: string, { status, ...answer }: A) {
  return {
    get status() {
      recordAnswer(method, url, status)
      return status
    },
    ...answer,
  }
}

/** The same for a client that reads each answer, such as the typed one. */
export function recordAnswer(method: string, url: string, status: number): void {
  if (file) lines.add(`${method} ${new URL(url, 'http://localhost').pathname.replace(UUID, '{}')} ${status}`)
}

/** A `fetch` for the typed client, which reads the status of each answer. */
export function recordingFetch(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const answer = await send(request)
    recordAnswer(request.method, request.url, answer.status)
    return answer
  }
}
