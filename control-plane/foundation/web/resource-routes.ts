import type { FastifyContextConfig, FastifyRequest, FastifySchema } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import { isId } from '../platform/ids.ts'
import type { RecordVersion } from './conditions/record-version.ts'
import type { App, HttpReply } from './server/types.ts'
import {
  buildFullPageMeta,
  buildPageMeta,
  type PageBounds,
  type PageParams,
  toPageBounds,
} from './validation/pagination.ts'
import { DeletedResponse, dataSchema, PageQuery, pageSchema, responseSchemas } from './validation/schemas.ts'

/** The names of the parameters in a path: `id` of `/monitors/:id`. */
type PathParam<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathParam<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

type ResourceRequest<Path extends string, Query = unknown, Body = unknown> = FastifyRequest & {
  params: Record<PathParam<Path>, string>
  query: Query
  body: Body
}

type Operation = {
  summary: string
  description?: string
  tags: string[]
  /** the scope, when it is not that of the method */
  config?: FastifyContextConfig
  /** the error statuses, when they are not those of most operations of the kind */
  errors?: number[]
  /** answers have an `ETag`, and a change accepts `If-Match` */
  version?: RecordVersion
}

type ListOperation<Path extends string, Row extends TSchema, Query extends TSchema, Bounds> = Operation & {
  /** the filters, with `page` and `per_page`; without it, the list has no filters */
  querystring?: Query
  record: Row
  list(
    request: ResourceRequest<Path, Static<Query>>,
    bounds: Bounds,
  ): Promise<{ data: readonly Static<Row>[]; total: number }>
}

/** Declares `GET` of a paginated list (docs/design/api.md#pagination). */
export function listRoute<Path extends string, Row extends TSchema, Query extends TSchema = typeof PageQuery>(
  app: App,
  path: Path,
  operation: ListOperation<Path, Row, Query, PageBounds>,
): void {
  addListRoute(app, path, operation, toPageBounds)
}

/** Declares `GET` of a list that returns all records unless `page` or `per_page` is given; `bounds` is null then. */
export function fullListRoute<Path extends string, Row extends TSchema, Query extends TSchema = typeof PageQuery>(
  app: App,
  path: Path,
  operation: ListOperation<Path, Row, Query, PageBounds | null>,
): void {
  addListRoute(app, path, operation, query =>
    query.page === undefined && query.per_page === undefined ? null : toPageBounds(query),
  )
}

function addListRoute<
  Path extends string,
  Row extends TSchema,
  Query extends TSchema,
  Bounds extends PageBounds | null,
>(
  app: App,
  path: Path,
  operation: ListOperation<Path, Row, Query, Bounds>,
  toBounds: (query: PageParams) => Bounds,
): void {
  const { record, querystring = PageQuery, errors = path.includes(':') ? [400, 404] : [400] } = operation
  const response = responseSchemas(200, pageSchema(record), ...errors)
  app.get(path, buildRouteOptions(path, operation, { querystring, response }), async request => {
    const query = request.query as PageParams
    const bounds = toBounds(query)
    const { data, total } = await operation.list(request as ResourceRequest<Path, Static<Query>>, bounds)
    return { data, meta: bounds === null ? buildFullPageMeta(total) : buildPageMeta(query, total) }
  })
}

/** Declares `GET` of one record. `read` throws 404. */
export function readRoute<Path extends string, Row extends TSchema>(
  app: App,
  path: Path,
  operation: Operation & { record: Row; read(request: ResourceRequest<Path>, reply: HttpReply): Promise<Static<Row>> },
): void {
  const { record, errors = [404] } = operation
  const response = responseSchemas(200, dataSchema(record), ...errors)
  app.get(path, buildRouteOptions(path, operation, { response }), async (request, reply) => ({
    data: await operation.read(request as ResourceRequest<Path>, reply),
  }))
}

type WriteOperation<Body extends TSchema, Row extends TSchema> = Operation & { body: Body; record: Row }

/** Declares `POST` of a new record, which `create` returns. */
export function createRoute<Path extends string, Body extends TSchema, Row extends TSchema>(
  app: App,
  path: Path,
  operation: WriteOperation<Body, Row> & {
    create(request: ResourceRequest<Path, unknown, Static<Body>>): Promise<Static<Row>>
  },
): void {
  const { body, record, errors = [400] } = operation
  const response = responseSchemas(201, dataSchema(record), ...errors)
  app.post(path, buildRouteOptions(path, operation, { body, response }), async (request, reply) => {
    const data = await operation.create(request as ResourceRequest<Path, unknown, Static<Body>>)
    const { recordVersion: version } = request
    if (version) version.tag = version.created.get((data as { id: string }).id) ?? null
    return reply.code(201).send({ data })
  })
}

/** Declares `PUT` of one record, which `update` returns. `update` throws 404. */
export function updateRoute<Path extends string, Body extends TSchema, Row extends TSchema>(
  app: App,
  path: Path,
  operation: WriteOperation<Body, Row> & {
    update(request: ResourceRequest<Path, unknown, Static<Body>>): Promise<Static<Row>>
  },
): void {
  const { body, record, errors = [400, 404] } = operation
  const response = responseSchemas(200, dataSchema(record), ...errors)
  app.put(path, buildRouteOptions(path, operation, { body, response }), async request => ({
    data: await operation.update(request as ResourceRequest<Path, unknown, Static<Body>>),
  }))
}

/** Declares `DELETE` of the record that the last parameter of the path names. `remove` throws 404. */
export function deleteRoute<Path extends string>(
  app: App,
  path: Path,
  operation: Operation & { remove(request: ResourceRequest<Path>): Promise<unknown> },
): void {
  const { errors = [404] } = operation
  const idName = listParams(path).at(-1) ?? ''
  const response = responseSchemas(200, DeletedResponse, ...errors)
  app.delete(path, buildRouteOptions(path, operation, { response }), async request => {
    await operation.remove(request as ResourceRequest<Path>)
    const id = (request.params as Record<string, string>)[idName] ?? ''
    // other answers have the ids of records in lower case; other names are not changed
    return { data: { id: isId(id) ? id.toLowerCase() : id, deleted: true } }
  })
}

/** The options of a route. A malformed id is a 404, so the path parameters are not validated. */
function buildRouteOptions(path: string, operation: Operation, rest: FastifySchema) {
  const { summary, description, tags, config, version } = operation
  const names = listParams(path)
  const params = names.length > 0 && {
    params: Type.Object(Object.fromEntries(names.map(name => [name, Type.String()]))),
  }
  const schema: FastifySchema = { summary, ...(description && { description }), tags, ...params, ...rest }
  return { schema, config: { ...config, ...(version && { version }) } }
}

const listParams = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
