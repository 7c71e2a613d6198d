import { recordReading } from './read-answers.ts'

export type ApiAnswer = {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every endpoint
  body: any
  headers: Headers
}

export type Api = {
  get(path: string, headers?: Record<string, string>): Promise<ApiAnswer>
  delete(path: string, headers?: Record<string, string>): Promise<ApiAnswer>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>
  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>
}

/** A client of `/api/v1` with one key (null: none). Paths begin with a slash; a body that is not a string is sent as JSON. */
export function createApi(origin: string, apiKey: string | null): Api {
  const send = async (method: string, path: string, body: unknown, headers: Record<string, string> = {}) => {
    const url = `${origin}/api/v1${path}`
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: {
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body:
        body === undefined
          ? undefined
          : typeof body === 'string' || Buffer.isBuffer(body)
            ? (body as string)
            : JSON.stringify(body),
    })
    const text = await response.text()
    return recordReading(method, url, { status: response.status, body: parse(text), headers: response.headers })
  }
  return {
    get: (path, headers) => send('GET', path, undefined, headers),
    delete: (path, headers) => send('DELETE', path, undefined, headers),
    post: (path, body, headers) => send('POST', path, body, headers),
    put: (path, body, headers) => send('PUT', path, body, headers),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
