import type { FastifyRequest } from 'fastify'
import { isId, newId } from '../../platform/ids.ts'
import type { Db } from '../../platform/postgres/client.ts'
import { getCaller, hasCaller } from '../auth/authentication.ts'
import type { App } from '../server/types.ts'
import {
  parseIfMatch,
  type RecordKey,
  type RecordVersion,
  type RequestVersion,
  unsupportedIfMatch,
} from './record-version.ts'
import { findTag } from './version-store.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** the route reads or changes a record that has an `ETag` */
    version?: RecordVersion
  }
  interface FastifyRequest {
    /** null on routes without versions, and for a malformed id */
    recordVersion: RequestVersion | null
  }
}

const READS = ['GET', 'HEAD']

/**
 * `ETag` and `If-Match` of single records (docs/design/conditional-requests.md). The tag of a read is read before the
 * record, so that it is never newer; that of a change in its transaction (`withRequestVersion`).
 */
export function addConditionalRequests(app: App, { db }: { db: Db }): void {
  app.addHook('preHandler', (request, _reply, done) => {
    if (!hasCaller(request)) return done()
    const { version: record } = request.routeOptions.config
    const isRead = READS.includes(request.method)
    const header = isRead ? undefined : request.headers['if-match']
    if (!record) return done(header === undefined ? undefined : refuse(request))
    if (request.method === 'POST' && header !== undefined) return done(refuse(request))
    request.recordVersion = createRequestVersion(request, record)
    const { recordVersion: version } = request
    if (!version) return done()
    if (header !== undefined) version.accepted = parseIfMatch(header)
    if (!isRead) return done()
    noteTag(db, version).then(() => done(), done)
  })

  app.addHook('onSend', (request, reply, _payload, done) => {
    const tag = request.recordVersion?.tag
    // a proxy that compresses an answer would change its tag
    if (tag && reply.statusCode < 300) reply.headers({ etag: `"${tag}"`, 'cache-control': 'no-store, no-transform' })
    done()
  })
}

const refuse = ({ method, routeOptions }: FastifyRequest) => unsupportedIfMatch(method, routeOptions.url ?? '')

function createRequestVersion(request: FastifyRequest, record: RecordVersion): RequestVersion | null {
  const ids = Object.values(request.params as Record<string, string>)
  const [parentId = '', id = parentId] = ids
  if (!ids.every(isId)) return null
  const key: RecordKey | null =
    request.method === 'POST' ? null : { projectId: getCaller(request).projectId, id, parentId }
  const isDeletion = request.method === 'DELETE'
  return { record, key, isDeletion, accepted: null, isPassed: false, tag: null, since: newId(), created: new Map() }
}

async function noteTag(db: Db, version: RequestVersion): Promise<void> {
  if (version.key) version.tag = await findTag(db, version.record, version.key)
}
