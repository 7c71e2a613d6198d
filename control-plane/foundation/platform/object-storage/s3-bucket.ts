import { createDeadline, createEgress, type HttpResponse, sendRequest } from '../../../../shared/egress/index.ts'
import { now } from '../time/clock.ts'
import { type ObjectStore, StoreLimitError } from './nats-bucket.ts'
import { type S3Credentials, signS3Request } from './s3-signature.ts'

type S3Address = S3Credentials & { endpoint: string; bucket: string }

const ANSWER_TIMEOUT_MS = 10_000
const MAX_OBJECT_BYTES = 4 * 1024 * 1024
const INSUFFICIENT_STORAGE = 507

/**
 * A bucket of an S3-compatible store, addressed by path. The operator creates the bucket. Its address may be private,
 * because the operator configures it and not a tenant.
 */
export function createS3ObjectStore({ endpoint, bucket, ...credentials }: S3Address): ObjectStore {
  const egress = createEgress({ allow: ['0.0.0.0/0', '::/0'] })
  const base = new URL(endpoint)

  async function ask(method: string, key: string, body: Buffer, contentType?: string): Promise<HttpResponse> {
    const path = `/${[bucket, ...key.split('/')].map(encodeURIComponent).join('/')}`
    const headers = signS3Request({ method, host: base.host, path, body }, credentials, now())
    const deadline = createDeadline(ANSWER_TIMEOUT_MS)
    try {
      return await sendRequest(
        {
          method,
          url: `${base.origin}${path}`,
          headers: contentType ? { ...headers, 'content-type': contentType } : headers,
          body: method === 'PUT' ? body : null,
          signal: deadline.signal,
          maxBodyBytes: MAX_OBJECT_BYTES,
          followRedirects: false,
        },
        egress,
      )
    } finally {
      deadline.clear()
    }
  }

  return {
    async put(key, bytes, contentType) {
      const answer = await ask('PUT', key, bytes, contentType)
      if (answer.statusCode === INSUFFICIENT_STORAGE) throw new StoreLimitError('the S3 store is full')
      expectStatus(answer, [200])
    },
    async get(key) {
      const answer = await ask('GET', key, EMPTY_BODY)
      expectStatus(answer, [200, 404])
      return answer.statusCode === 200 ? (answer.body ?? EMPTY_BODY) : null
    },
    async remove(key) {
      expectStatus(await ask('DELETE', key, EMPTY_BODY), [200, 204, 404])
    },
    getMaxBytes: async () => null,
  }
}

const EMPTY_BODY = Buffer.alloc(0)

function expectStatus({ error, statusCode }: HttpResponse, wanted: number[]): void {
  if (error === null && wanted.includes(statusCode ?? 0)) return
  throw new Error(`the S3 store answered: ${error?.message ?? statusCode}`)
}
