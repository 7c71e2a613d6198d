import { recordLine } from './test-record.ts'

/**
 * Returns the answer of an API server with a `status` that records its first reading by a test: a line such as
 * "GET /api/v1/monitors/{} 200". `url` may be a path.
 */
export function recordReading<A extends { status: number }>(method: string, url: string, { status, ...answer }: A) {
  return {
    get status() {
      recordLine(method, url, status)
      return status
    },
    ...answer,
  }
}

/** A `fetch` for the typed client, which reads the status of each answer. */
export function recordingFetch(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const answer = await send(request)
    recordLine(request.method, request.url, answer.status)
    return answer
  }
}
