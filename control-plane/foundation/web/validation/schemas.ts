import { type TProperties, type TSchema, Type } from 'typebox'
import { ERROR_CODES } from '../server/errors.ts'

/** An object that refuses unknown properties. Every request body and query is one (decisions 1.2). */
export const strictObject = <T extends TProperties>(
  properties: T,
  options: { title?: string; description?: string; examples?: object[] } = {},
) => Type.Object(properties, { ...options, additionalProperties: false })

/** One of some texts. */
export const stringEnum = <const T extends readonly string[]>(values: T, options: { default?: T[number] } = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options })

export const nullable = <T extends TSchema>(schema: T, options: { default?: unknown; description?: string } = {}) =>
  Type.Union([schema, Type.Null()], options)

/** What a read adds to what was given: taken by a write so that what was read can be sent back, and ignored. */
export const ignoredText = Type.Optional(Type.String({ maxLength: 100, description: 'ignored: as it was read' }))

/** Text that may stand in a header, a subject, a host or a name: no CR, LF or NUL (decisions 1.2). */
export const lineText = (minLength: number, maxLength: number) => Type.String({ minLength, maxLength, format: 'line' })

/** The name of a record: one line of 1-100 characters. */
export const Name = lineText(1, 100)

export const Id = Type.String({ description: 'UUIDv7' })

/** Path parameters of `/things/:id`. A malformed id is a 404, so nothing is validated here: see `isId`. */
export const IdParams = Type.Object({ id: Type.String() })

/** In answers only. A `Date` becomes ISO 8601 UTC with milliseconds. */
export const Timestamp = Type.Unsafe<Date | string>({ type: 'string', format: 'date-time' })

/** Properties of a paginated list's query; spread it beside the filters into a `strictObject` (decisions 1.4). */
export const pageProperties = {
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'from 1; default 1' })),
  per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'default 25' })),
}
export const PageQuery = strictObject(pageProperties)

export const PaginationMeta = Type.Object(
  {
    page: Type.Integer(),
    per_page: Type.Integer(),
    total: Type.Integer(),
    total_pages: Type.Integer(),
  },
  { title: 'PaginationMeta' },
)

/** `{ data }` */
export const dataSchema = <T extends TSchema>(schema: T) => Type.Object({ data: schema })

/** `{ data: [...], meta }` */
export const pageSchema = <T extends TSchema>(schema: T) =>
  Type.Object({ data: Type.Array(schema), meta: PaginationMeta })

export const DeletedResponse = dataSchema(Type.Object({ id: Id, deleted: Type.Literal(true) }))

export const ErrorResponse = Type.Object({
  error: Type.Object({
    code: stringEnum(ERROR_CODES),
    message: Type.String({ description: 'a sentence for people' }),
    status: Type.Integer({ description: 'the HTTP status' }),
    details: Type.Optional(
      Type.Array(Type.Object({ path: Type.String({ description: 'assertions[0].value' }), message: Type.String() }), {
        description: 'each thing that is wrong, by its place',
      }),
    ),
  }),
})

/** The answers of a route: its success, and the error statuses it may give beyond those that every route has. */
export const responseSchemas = <S extends number, T extends TSchema>(status: S, schema: T, ...errors: number[]) =>
  ({
    [status]: schema,
    ...Object.fromEntries(errors.map(error => [error, ErrorResponse])),
  }) as { [K in S]: T }
