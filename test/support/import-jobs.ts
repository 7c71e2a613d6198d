import type { Answer, ApiServer } from './api-server.ts'
import { waitFor } from './wait.ts'

export const OCTETS = { 'content-type': 'application/octet-stream' }

export const upload = (api: ApiServer, key: string, query: string, body: Buffer | string): Promise<Answer> =>
  api.call('POST', `/imports?${query}`, { key, body, headers: OCTETS })

// biome-ignore lint/suspicious/noExplicitAny: a record of any shape
type Job = any

/** Waits until an import is not running any more, and returns it. */
export async function ended(api: ApiServer, key: string, id: string): Promise<Job> {
  let job: Job = null
  await waitFor(async () => {
    job = (await api.call('GET', `/imports/${id}`, { key })).body.data
    return ['ready', 'applied', 'failed'].includes(job.status)
  })
  return job
}

/** Uploads a file and returns the import when it is planned, or has failed. */
export async function planned(api: ApiServer, key: string, query: string, body: Buffer | string): Promise<Job> {
  const { status, body: answer } = await upload(api, key, query, body)
  if (status !== 202) throw new Error(`POST /imports: ${status} ${JSON.stringify(answer)}`)
  return await ended(api, key, answer.data.id)
}
